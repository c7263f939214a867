// Hostile mode of queues: each switch breaks a client that lacks the matching care and leaves a careful one alone.
#include "tests/unit/vcp/bench.h"

using namespace vcp_test;

namespace {

vgpu::GpuConfig hostile(uint64_t seed, void (*set)(vgpu::Hostile&)) {
  auto config = gfx90a_config();
  config.seed = seed;
  set(config.hostile);
  return config;
}

/// Order in which `count` dispatches without barrier bit complete, by their packet index.
std::vector<uint64_t> completion_order(const vgpu::GpuConfig& config, int count, uint16_t header) {
  Bench bench(config);
  AqlClient queue(bench);
  Kernel kernel(bench);
  std::vector<std::unique_ptr<Signal>> signals;
  for (int i = 0; i < count; ++i) {
    signals.push_back(std::make_unique<Signal>(bench, 1));
    queue.publish(queue.reserve(), dispatch_packet(kernel.va, header, signals.back()->va));
  }
  queue.ring(static_cast<uint64_t>(count - 1));
  std::vector<uint64_t> order;
  std::set<size_t> seen;
  for (int n = 0; n < 2000 && order.size() < signals.size(); ++n) {
    bench.cp->step();
    for (size_t i = 0; i < signals.size(); ++i) {
      if (signals[i]->fields->value == 0 && seen.insert(i).second) order.push_back(i);
    }
  }
  CHECK(queue.read_index() == static_cast<uint64_t>(count));
  return order;
}

bool ascending(const std::vector<uint64_t>& order) { return std::is_sorted(order.begin(), order.end()); }

}  // namespace

TEST_CASE("early_read_index: the index says that a packet started, not that it ended") {
  Bench bench(hostile(1, [](vgpu::Hostile& h) { h.early_read_index = true; }));
  AqlClient queue(bench);
  Kernel kernel(bench);
  Signal done(bench, 1);
  bench.engine->ends_at_once = false;
  queue.submit(dispatch_packet(kernel.va, kBarrierAgent, done.va));
  bench.run();
  CHECK(queue.read_index() == 1);
  CHECK(queue.header(0) == 1);
  CHECK(done.fields->value == 1);  // its kernel arguments are still in use
  bench.engine->ended.insert(1);
  bench.run();
  CHECK(done.fields->value == 0);
}

TEST_CASE("early_read_index: a slot is taken again while its old packet runs") {
  Bench bench(hostile(1, [](vgpu::Hostile& h) { h.early_read_index = true; }));
  AqlClient queue(bench, 4);
  Kernel kernel(bench);
  Signal first(bench, 1), rest(bench, 4);
  bench.engine->ends_at_once = false;
  queue.submit(dispatch_packet(kernel.va, kNoBarrier, first.va));
  bench.run();
  for (int i = 0; i < 4; ++i) queue.submit(dispatch_packet(kernel.va, kNoBarrier, rest.va));  // the last one in slot 0
  bench.run();
  CHECK(bench.engine->started.size() == 4);
  bench.engine->ended = {1, 2, 3, 4, 5};
  bench.run();
  CHECK(first.fields->value == 0);
  CHECK(rest.fields->value == 0);
  CHECK(queue.read_index() == 5);
}

TEST_CASE("out_of_order: packets without the barrier bit complete in other orders, by the seed") {
  const auto set = [](vgpu::Hostile& h) { h.out_of_order = true; };
  CHECK(ascending(completion_order(gfx90a_config(), 8, kNoBarrier)));
  std::set<std::vector<uint64_t>> orders;
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    const auto order = completion_order(hostile(seed, set), 8, kNoBarrier);
    REQUIRE(order.size() == 8);
    CHECK(order == completion_order(hostile(seed, set), 8, kNoBarrier));
    orders.insert(order);
  }
  CHECK(orders.size() > 3);
}

TEST_CASE("out_of_order: the barrier bit still orders") {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    const auto order =
        completion_order(hostile(seed, [](vgpu::Hostile& h) { h.out_of_order = true; }), 8, kBarrierAgent);
    CHECK(order.size() == 8);
    CHECK(ascending(order));
  }
}

TEST_CASE("out_of_order: a packet without the barrier bit overtakes one that waits for a signal") {
  Bench bench(hostile(3, [](vgpu::Hostile& h) { h.out_of_order = true; }));
  AqlClient queue(bench);
  Kernel kernel(bench);
  Signal dependency(bench, 1), waits(bench, 1), overtakes(bench, 1), ordered(bench, 1);
  queue.submit(barrier_packet({dependency.va}, waits.va));
  queue.submit(dispatch_packet(kernel.va, kNoBarrier, overtakes.va));
  queue.submit(dispatch_packet(kernel.va, kBarrierAgent, ordered.va));
  for (int n = 0; n < 200; ++n) bench.cp->step();
  CHECK(overtakes.fields->value == 0);
  CHECK(ordered.fields->value == 1);
  CHECK(queue.read_index() == 0);
  dependency.fields->value = 0;
  for (int n = 0; n < 200; ++n) bench.cp->step();
  CHECK(waits.fields->value == 0);
  CHECK(ordered.fields->value == 0);
  CHECK(queue.read_index() == 3);
}

TEST_CASE("out_of_order: a packet that asks for private memory is the one at the read index") {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    Bench bench(hostile(seed, [](vgpu::Hostile& h) { h.out_of_order = true; }));
    AqlClient queue(bench);
    Kernel kernel(bench);
    Signal done(bench, 6);
    for (int i = 0; i < 6; ++i) {
      auto packet = dispatch_packet(kernel.va, kNoBarrier, done.va);
      if (i == 2 || i == 4) packet.private_segment_size = 64u << i;
      queue.publish(queue.reserve(), packet);
    }
    queue.ring(5);
    for (int n = 0; n < 3000 && done.fields->value != 0; ++n) {
      bench.cp->step();
      if (queue.inactive.fields->value == 0) continue;
      const auto* asking = bench.host<aql::KernelDispatchPacket>(queue.ring_va + queue.read_index() % 64 * 64);
      REQUIRE(asking->private_segment_size > queue.queue->scratch_wave64_lane_byte_size);
      queue.queue->scratch_wave64_lane_byte_size = asking->private_segment_size;
      queue.queue->compute_tmpring_size = 0x4008;
      queue.inactive.fields->value = 0;
    }
    CHECK(done.fields->value == 0);
  }
}

TEST_CASE("drop_doorbells: a client that keeps the write index in memory loses nothing") {
  Bench bench(hostile(5, [](vgpu::Hostile& h) { h.drop_doorbells = true; }));
  AqlClient queue(bench);
  Signal done(bench, 0);
  for (int i = 0; i < 100; ++i) {
    queue.submit(barrier_packet({}, done.va));
    bench.run();
    REQUIRE(done.fields->value == -(i + 1));
  }
}

TEST_CASE("drop_doorbells: a client that only rings hangs") {
  Bench bench(hostile(5, [](vgpu::Hostile& h) { h.drop_doorbells = true; }));
  AqlClient queue(bench);
  Signal done(bench, 0);
  int lost = 0;
  for (uint64_t i = 0; i < 40; ++i) {
    queue.publish(i, barrier_packet({}, done.va));
    queue.ring(i);
    bench.run();
    lost += done.fields->value != -static_cast<int64_t>(i + 1);
  }
  CHECK(lost > 0);
}

TEST_CASE("evict_user_pages: queues stop for a while; a client that keeps the write index loses nothing") {
  const bool keeps_index = GENERATE(true, false);
  Bench bench(hostile(5, [](vgpu::Hostile& h) { h.evict_user_pages = true; }));
  AqlClient queue(bench), busy(bench, 64, 1);
  Kernel kernel(bench);
  Signal done(bench, 0);
  bench.engine->ends_at_once = false;
  busy.submit(dispatch_packet(kernel.va));  // something runs all the time, or there is no reason to evict
  int missing = 0;
  for (uint64_t i = 0; i < 200; ++i) {
    if (keeps_index) ++queue.queue->write_dispatch_id;
    queue.publish(i, barrier_packet({}, done.va));
    queue.ring(i);
    for (int n = 0; n < 300; ++n) bench.cp->step();
    missing += done.fields->value != -static_cast<int64_t>(i + 1);
  }
  if (keeps_index)
    CHECK(missing == 0);
  else
    CHECK(missing > 0);
}

TEST_CASE("with more queues than slots a doorbell that rang meanwhile is not lost in strict mode") {
  const bool drop = GENERATE(false, true);
  auto config = gfx90a_config();
  config.hostile.drop_doorbells = drop;
  Bench bench(config);
  std::vector<std::unique_ptr<AqlClient>> queues;
  Signal done(bench, 40);
  for (uint32_t i = 0; i < 40; ++i) queues.push_back(std::make_unique<AqlClient>(bench, 64, i));
  bench.run();
  for (auto& queue : queues) {
    queue->publish(0, barrier_packet({}, done.va));
    queue->ring(0);  // and no write index
  }
  bench.run();
  if (drop)
    CHECK(done.fields->value > 0);
  else
    CHECK(done.fields->value == 0);
}
