// The handshake by which a queue asks its runtime for private memory, as stock ROCr 5.2.3 to 7.2.4 answer it.
#include "tests/unit/vcp/bench.h"

using namespace vcp_test;

namespace {

aql::KernelDispatchPacket private_packet(uint64_t kernel, uint32_t bytes, uint64_t signal = 0,
                                         uint16_t header = kBarrierAgent) {
  auto packet = dispatch_packet(kernel, header, signal);
  packet.private_segment_size = bytes;
  return packet;
}

void provide(AqlClient& queue, uint32_t lane_bytes64, uint32_t tmpring, bool once) {
  queue.queue->compute_tmpring_size = tmpring;
  queue.queue->scratch_backing_memory_location = 0x7000000000;
  queue.queue->scratch_wave64_lane_byte_size = lane_bytes64;
  if (once) queue.queue->queue_properties |= aql::kQueueUseScratchOnce;
  __atomic_store_n(&queue.inactive.fields->value, 0, __ATOMIC_RELEASE);
}

}  // namespace

TEST_CASE("a packet that needs more private memory stops the queue until the host answers") {
  Bench bench;
  AqlClient queue(bench);
  Kernel kernel(bench, 1 << 3, (2 << 1) | 1);
  Signal done(bench, 1);
  queue.submit(private_packet(kernel.va, 1038, done.va));  // rounded to 1040
  bench.run();
  CHECK(bench.engine->started.empty());
  CHECK(queue.inactive.fields->value == 1);
  CHECK(bench.reports.eop == std::vector<uint32_t>{3});
  CHECK(queue.read_index() == 0);
  CHECK(queue.header(0) == kBarrierAgent);  // not consumed: the host reads the packet at the read index
  CHECK(bench.cp->must_poll());

  provide(queue, 1040, 0x41008, false);
  bench.run();
  REQUIRE(bench.engine->started.size() == 1);
  CHECK(bench.engine->started[0].scratch_waves == 8);
  CHECK(bench.engine->started[0].scratch_wave_bytes == 65 * 1024);
  CHECK(done.fields->value == 0);
  CHECK(queue.inactive.fields->value == 0);

  queue.submit(private_packet(kernel.va, 1040));  // enough now
  bench.run();
  CHECK(bench.engine->started.size() == 2);
  CHECK(queue.inactive.fields->value == 0);
}

TEST_CASE("a 32-lane kernel asks with its own value and needs half the bytes") {
  Bench bench(gfx1100_config());
  AqlClient queue(bench);
  Kernel kernel(bench, (1 << 3) | (1 << 10), (15 << 1) | 1);
  queue.submit(private_packet(kernel.va, 1040));
  bench.run();
  CHECK(queue.inactive.fields->value == 0x400);
  provide(queue, 520, 0x82200, false);
  bench.run();
  CHECK(bench.engine->started.size() == 1);
}

TEST_CASE("an answer that is too small is asked again") {
  Bench bench;
  AqlClient queue(bench);
  Kernel kernel(bench);
  queue.submit(private_packet(kernel.va, 512));
  bench.run();
  provide(queue, 256, 0x1008, false);
  bench.run();
  CHECK(bench.engine->started.empty());
  CHECK(queue.inactive.fields->value == 1);
  CHECK(bench.reports.eop.size() == 2);
}

TEST_CASE("memory for one dispatch only is given back before the next packet") {
  Bench bench;
  AqlClient queue(bench);
  Kernel kernel(bench, 1 << 3, (2 << 1) | 1);
  Signal done(bench, 1), after(bench, 1);
  queue.submit(private_packet(kernel.va, 1040, done.va));
  queue.submit(barrier_packet({}, after.va));
  bench.run();
  provide(queue, 1040, 0x41008, true);
  bench.run();
  CHECK(done.fields->value == 0);
  CHECK(queue.inactive.fields->value == 0x200);
  CHECK(after.fields->value == 1);

  queue.queue->compute_tmpring_size = 0;
  queue.queue->scratch_wave64_lane_byte_size = 0;
  queue.queue->queue_properties &= ~static_cast<uint32_t>(aql::kQueueUseScratchOnce);
  queue.inactive.fields->value = 0;
  bench.run();
  CHECK(after.fields->value == 0);

  queue.submit(private_packet(kernel.va, 1040));
  bench.run();
  CHECK(queue.inactive.fields->value == 1);  // and has to be asked for again
}

TEST_CASE("the queue drains before it asks, since the host frees what it had") {
  Bench bench;
  AqlClient queue(bench);
  Kernel kernel(bench);
  bench.engine->ends_at_once = false;
  queue.queue->scratch_wave64_lane_byte_size = 64;
  queue.queue->compute_tmpring_size = 0x4008;
  queue.submit(private_packet(kernel.va, 64, 0, kNoBarrier));
  queue.submit(private_packet(kernel.va, 128, 0, kNoBarrier));
  bench.run();
  CHECK(queue.inactive.fields->value == 0);
  bench.engine->ended.insert(1);
  bench.run();
  CHECK(queue.inactive.fields->value == 1);
}

TEST_CASE("dispatches that share the queue's private memory do not overlap") {
  Bench bench;
  AqlClient queue(bench);
  Kernel kernel(bench);
  bench.engine->ends_at_once = false;
  queue.queue->scratch_wave64_lane_byte_size = 64;
  queue.queue->compute_tmpring_size = 0x4008;
  for (int i = 0; i < 2; ++i) queue.submit(private_packet(kernel.va, 64, 0, kNoBarrier));
  bench.run();
  CHECK(bench.engine->started.size() == 1);
  bench.engine->ended.insert(1);
  bench.run();
  CHECK(bench.engine->started.size() == 2);
}
