// Headers, doorbells, the barrier bit, dependencies and the read index of AQL queues. Expected behaviour: HSA system
// architecture 1.2, what stock runtimes rely on (golden traces), and the Linux KFD's exception codes.
#include "tests/unit/vcp/bench.h"

using namespace vcp_test;

TEST_CASE("a dispatch runs, its signal is decremented and its slot is given back") {
  Bench bench;
  AqlClient queue(bench);
  Kernel kernel(bench);
  Signal done(bench, 1, 7);
  bench.run();
  CHECK(bench.reports.eop.empty());

  const uint64_t index = queue.submit(dispatch_packet(kernel.va, kBarrierAgent, done.va));
  bench.run();
  REQUIRE(bench.engine->started.size() == 1);
  CHECK(bench.engine->started[0].code_va == kernel.va + 256);
  CHECK(bench.engine->started[0].packet_va == queue.ring_va + index * 64);
  CHECK(done.fields->value == 0);
  CHECK(*done.mailbox == 7);
  CHECK(bench.reports.eop == std::vector<uint32_t>{7});
  CHECK(queue.header(index) == 1);
  CHECK(queue.read_index() == 1);
  CHECK_FALSE(bench.cp->must_poll());
}

TEST_CASE("timestamps are written only when the queue profiles") {
  Bench bench;
  AqlClient queue(bench);
  Signal plain(bench, 1), timed(bench, 1);
  queue.submit(barrier_packet({}, plain.va));
  bench.run();
  CHECK(plain.fields->value == 0);
  CHECK(plain.fields->start_ts == 0);
  CHECK(plain.fields->end_ts == 0);

  queue.queue->queue_properties |= aql::kQueueEnableProfiling;  // switched on later, as stock runtimes do
  queue.submit(barrier_packet({}, timed.va));
  bench.run();
  CHECK(timed.fields->start_ts > 1000);
  CHECK(timed.fields->end_ts > timed.fields->start_ts);
}

TEST_CASE("a slot whose header is INVALID is waited for, whatever doorbell and write index say") {
  Bench bench;
  AqlClient queue(bench);
  Signal first(bench, 1), second(bench, 1);
  const uint64_t a = queue.reserve();
  const uint64_t b = queue.reserve();
  queue.publish(b, barrier_packet({}, second.va));
  queue.ring(b);
  bench.run();
  CHECK(second.fields->value == 1);
  CHECK(bench.cp->must_poll());

  queue.publish(a, barrier_packet({}, first.va));  // no doorbell of its own yet: the processor reads the header again
  bench.run();
  CHECK(first.fields->value == 0);
  CHECK(second.fields->value == 0);
  CHECK(queue.read_index() == 2);
}

TEST_CASE("one doorbell with the last index publishes a batch") {
  Bench bench;
  AqlClient queue(bench);
  Signal done(bench, 3);
  bench.run();  // the look at the write index that mapping a queue brings
  for (int i = 0; i < 3; ++i) queue.publish(queue.reserve(), barrier_packet({}, done.va));
  bench.run();
  CHECK(done.fields->value == 3);  // nobody rang
  queue.ring(2);
  bench.run();
  CHECK(done.fields->value == 0);
}

TEST_CASE("a doorbell with the next index, as older clients write it, is understood") {
  Bench bench;
  AqlClient queue(bench);
  Signal done(bench, 1);
  queue.publish(queue.reserve(), barrier_packet({}, done.va));
  queue.ring(1);
  bench.run();
  CHECK(done.fields->value == 0);
}

TEST_CASE("a doorbell counts even when the write index in memory is behind it") {
  Bench bench;
  AqlClient queue(bench);
  Signal done(bench, 1);
  queue.publish(0, barrier_packet({}, done.va));
  queue.ring(0);
  bench.run();
  CHECK(done.fields->value == 0);
}

TEST_CASE("packets that nobody rang for are seen when the queue is mapped again") {
  Bench bench;
  AqlClient queue(bench);
  bench.run();
  Signal done(bench, 1);
  queue.publish(queue.reserve(), barrier_packet({}, done.va));
  bench.run();
  CHECK(done.fields->value == 1);
  bench.cp->update_queue(0, queue.params.ring_va, queue.params.ring_bytes, 100, 7);
  bench.run();
  CHECK(done.fields->value == 0);
}

TEST_CASE("the ring is used round and round") {
  Bench bench;
  AqlClient queue(bench, 4);
  Signal done(bench, 0);
  for (int i = 0; i < 11; ++i) {
    queue.submit(barrier_packet({}, done.va));
    bench.run();
  }
  CHECK(done.fields->value == -11);
  CHECK(queue.read_index() == 11);
}

TEST_CASE("a full ring goes on when its oldest packet ends") {
  Bench bench;
  AqlClient queue(bench, 4);
  Kernel kernel(bench);
  Signal done(bench, 5);
  bench.engine->ends_at_once = false;
  for (int i = 0; i < 4; ++i) queue.submit(dispatch_packet(kernel.va, kNoBarrier, done.va));
  bench.run();
  REQUIRE(bench.engine->started.size() == 4);
  const uint64_t next = queue.reserve();
  queue.ring(next);  // waits for its slot, which the producer fills when the read index moved
  bench.run();
  bench.engine->ended = {1, 2, 3, 4};
  bench.run();
  CHECK(queue.read_index() == 4);
  queue.publish(next, barrier_packet({}, done.va));
  bench.run();
  CHECK(done.fields->value == 0);
}

TEST_CASE("the barrier bit waits for all earlier packets, packets without it overlap") {
  Bench bench;
  AqlClient queue(bench);
  Kernel kernel(bench);
  Signal last(bench, 1);
  bench.engine->ends_at_once = false;
  queue.submit(dispatch_packet(kernel.va, kNoBarrier));
  queue.submit(dispatch_packet(kernel.va, kNoBarrier));
  queue.submit(dispatch_packet(kernel.va, kBarrierAgent, last.va));
  bench.run();
  CHECK(bench.engine->started.size() == 2);

  bench.engine->ended.insert(2);  // out of order
  bench.run();
  CHECK(bench.engine->started.size() == 2);
  CHECK(queue.read_index() == 0);
  CHECK(queue.header(1) == 1);  // its slot is done, and is given back with the one before it

  bench.engine->ended.insert(1);
  bench.run();
  CHECK(queue.read_index() == 2);
  REQUIRE(bench.engine->started.size() == 3);
  CHECK(last.fields->value == 1);
  bench.engine->ended.insert(3);
  bench.run();
  CHECK(last.fields->value == 0);
  CHECK(queue.read_index() == 3);
}

TEST_CASE("BARRIER_AND waits for all its signals, BARRIER_OR for one") {
  Bench bench;
  AqlClient queue(bench);
  Signal a(bench, 1), b(bench, 1), both(bench, 1), either(bench, 1);
  queue.submit(barrier_packet({a.va, 0, b.va}, both.va));
  queue.submit(barrier_packet({a.va, b.va}, either.va, 0x1505));
  bench.run();
  CHECK(both.fields->value == 1);
  CHECK(bench.cp->must_poll());
  b.fields->value = 0;
  bench.run();
  CHECK(both.fields->value == 1);
  CHECK(either.fields->value == 1);  // in order behind the first
  a.fields->value = 0;
  bench.run();
  CHECK(both.fields->value == 0);
  CHECK(either.fields->value == 0);
}

TEST_CASE("BARRIER_OR is met by one signal, and by no signals") {
  Bench bench;
  AqlClient queue(bench);
  Signal a(bench, 1), b(bench, 1), either(bench, 1), none(bench, 1);
  queue.submit(barrier_packet({a.va, b.va}, either.va, 0x1505));
  queue.submit(barrier_packet({}, none.va, 0x1505));
  bench.run();
  CHECK(either.fields->value == 1);
  b.fields->value = 0;
  bench.run();
  CHECK(either.fields->value == 0);
  CHECK(none.fields->value == 0);
}

TEST_CASE("queues wait for each other through signals") {
  Bench bench;
  AqlClient first(bench, 64, 0), second(bench, 64, 1);
  Signal between(bench, 1), done(bench, 1);
  second.submit(barrier_packet({between.va}, done.va));
  bench.run();
  CHECK(done.fields->value == 1);
  first.submit(barrier_packet({}, between.va));
  bench.run();
  CHECK(done.fields->value == 0);
}

TEST_CASE("a removed queue takes its waves along, an inactive one starts nothing") {
  Bench bench;
  AqlClient queue(bench);
  Kernel kernel(bench);
  bench.engine->ends_at_once = false;
  queue.submit(dispatch_packet(kernel.va));
  bench.run();
  bench.cp->update_queue(0, queue.params.ring_va, queue.params.ring_bytes, 0, 7);
  queue.submit(dispatch_packet(kernel.va, kNoBarrier));
  bench.run();
  CHECK(bench.engine->started.size() == 1);
  bench.cp->update_queue(0, queue.params.ring_va, queue.params.ring_bytes, 100, 7);
  bench.run();
  CHECK(bench.engine->started.size() == 2);
  bench.cp->remove_queue(0);
  CHECK(bench.engine->killed == std::set<uint64_t>{1, 2});
  bench.run();
  CHECK_FALSE(bench.cp->must_poll());
}

TEST_CASE("evicted queues run nothing more") {
  Bench bench;
  AqlClient queue(bench);
  Signal done(bench, 1);
  bench.cp->evict_all();
  queue.submit(barrier_packet({}, done.va));
  bench.run();
  CHECK(done.fields->value == 1);
  CHECK_FALSE(bench.cp->must_poll());
}

TEST_CASE("more queues than the hardware has slots for all make progress") {
  Bench bench;
  std::vector<std::unique_ptr<AqlClient>> queues;
  Signal done(bench, 60);
  for (uint32_t i = 0; i < 60; ++i) queues.push_back(std::make_unique<AqlClient>(bench, 64, i));
  bench.run();
  for (auto& queue : queues) queue->submit(barrier_packet({}, done.va));
  bench.run();
  CHECK(done.fields->value == 0);
}
