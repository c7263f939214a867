// Queues leave the hardware and come back: inactive, updated, destroyed beside each other, more of them than slots,
// masked, reset.
#include "tests/unit/vcp/pm4_client.h"

using namespace vcp_test;

namespace {

/// A queue with a save area and one dispatch that runs until the test ends it.
struct BusyQueue {
  explicit BusyQueue(Bench& bench, uint32_t id = 0)
      : bench(bench), kernel(bench), done(bench, 1), save_va(bench.allocate(kSaveBytes, 4096)), client(bench, 64, id) {
    bench.cp->remove_queue(id);
    client.params.ctx_save_va = save_va;
    client.params.ctx_save_bytes = kSaveBytes;
    client.params.ctl_stack_bytes = kStackBytes;
    bench.cp->add_queue(client.params);
    bench.engine->ends_at_once = false;
    client.submit(dispatch_packet(kernel.va, kBarrierAgent, done.va));
    bench.run();
    dispatch = bench.engine->started.size();
  }
  void set_percentage(uint32_t percentage) {
    bench.cp->update_queue(client.params.queue_id, client.params.ring_va, client.params.ring_bytes, percentage, 7);
  }
  static constexpr uint32_t kSaveBytes = 64 << 10, kStackBytes = 8192;
  Bench& bench;
  Kernel kernel;
  Signal done;
  uint64_t save_va;
  AqlClient client;
  uint64_t dispatch = 0;
};

}  // namespace

TEST_CASE("an inactive queue stands still: its waves are saved, and go on when it is active again") {
  const bool gfx11 = GENERATE(false, true);
  Bench bench(gfx11 ? gfx1100_config() : gfx90a_config());
  BusyQueue queue(bench);
  CHECK_FALSE(bench.cp->saved_waves(0));
  queue.set_percentage(0);
  CHECK(bench.engine->suspended.contains(queue.dispatch));
  queue.client.submit(barrier_packet({}, 0));
  bench.engine->ended.insert(queue.dispatch);
  bench.run();
  CHECK(queue.done.fields->value == 1);
  CHECK_FALSE(bench.cp->must_poll());

  const auto saved = bench.cp->saved_waves(0);
  REQUIRE(saved);
  CHECK(saved->waves == 1);
  CHECK(saved->control_stack_bytes == (gfx11 ? 12 : 8));
  CHECK(saved->wave_state_bytes == 100);
  const auto* area = bench.host<uint8_t>(queue.save_va);
  CHECK(area[BusyQueue::kStackBytes - saved->control_stack_bytes - 1] == 0);
  CHECK(area[BusyQueue::kStackBytes - 1] == 0x80);
  CHECK(area[BusyQueue::kStackBytes] == queue.dispatch);
  CHECK(area[BusyQueue::kStackBytes + 99] == queue.dispatch);
  CHECK(area[BusyQueue::kStackBytes + 100] == 0);
  for (int i = 0; i < 40; ++i) REQUIRE(area[i] == 0);  // the header is the client's

  queue.set_percentage(100);
  CHECK_FALSE(bench.engine->suspended.contains(queue.dispatch));
  bench.run();
  CHECK(queue.done.fields->value == 0);
  CHECK(queue.client.read_index() == 2);
}

TEST_CASE("changes to one queue let another's waves go on") {
  Bench bench;
  BusyQueue queue(bench);
  AqlClient other(bench, 64, 1);
  bench.cp->update_queue(1, other.params.ring_va, other.params.ring_bytes, 50, 15);
  bench.cp->remove_queue(1);
  bench.run();
  CHECK(bench.engine->killed.empty());
  CHECK(bench.engine->suspended.empty());
  CHECK(queue.done.fields->value == 1);
  bench.engine->ended.insert(queue.dispatch);
  bench.run();
  CHECK(queue.done.fields->value == 0);
}

TEST_CASE("a ring of 0 bytes is an inactive queue too") {
  Bench bench;
  BusyQueue queue(bench);
  bench.cp->update_queue(0, queue.client.params.ring_va, 0, 100, 7);
  CHECK(bench.engine->suspended.contains(queue.dispatch));
  bench.run();
  bench.cp->update_queue(0, queue.client.params.ring_va, queue.client.params.ring_bytes, 100, 7);
  bench.engine->ended.insert(queue.dispatch);
  bench.run();
  CHECK(queue.done.fields->value == 0);
}

TEST_CASE("every change of the queue list reads the write indices again; with drop_doorbells it loses rings") {
  const bool drop = GENERATE(false, true);
  auto config = gfx90a_config();
  config.hostile.drop_doorbells = drop;
  Bench bench(config);
  AqlClient only_rings(bench, 64, 0), only_publishes(bench, 64, 1);
  Pm4Client pm4(bench, 1024, 2);
  Signal rung(bench, 1), published(bench, 1);
  const uint64_t mark = bench.allocate(64);
  std::unique_ptr<AqlClient> extra;
  SECTION("created") {}
  SECTION("destroyed") { extra = std::make_unique<AqlClient>(bench, 64, 3); }
  bench.run();
  only_rings.publish(0, barrier_packet({}, rung.va));
  only_rings.ring(0);
  only_publishes.publish(only_publishes.reserve(), barrier_packet({}, published.va));
  pm4.place({0xc0033700, 5u << 8, lo(mark), hi(mark), 1});
  pm4.ring();
  if (extra)
    bench.cp->remove_queue(3);
  else
    extra = std::make_unique<AqlClient>(bench, 64, 3);
  bench.run();
  CHECK(published.fields->value == 0);
  CHECK(rung.fields->value == (drop ? 1 : 0));
  CHECK(*bench.host<uint32_t>(mark) == (drop ? 0 : 1));
}

TEST_CASE("more compute queues than slots: the others' waves wait, and all come to their turn") {
  auto config = gfx90a_config();
  config.compute_slots = 4;
  Bench bench(config);
  std::vector<std::unique_ptr<BusyQueue>> queues;
  for (uint32_t i = 0; i < 10; ++i) queues.push_back(std::make_unique<BusyQueue>(bench, i));
  REQUIRE(bench.engine->started.size() == 10);
  CHECK(bench.engine->suspended.size() == 6);
  std::set<uint64_t> seen;
  for (int n = 0; n < 2000; ++n) {
    bench.cp->step();
    REQUIRE(bench.engine->suspended.size() == 6);
    for (uint64_t id = 1; id <= 10; ++id) {
      if (!bench.engine->suspended.contains(id)) seen.insert(id);
    }
  }
  CHECK(seen.size() == 10);
  for (uint64_t id = 1; id <= 10; ++id) bench.engine->ended.insert(id);
  bench.run();
  for (const auto& queue : queues) CHECK(queue->done.fields->value == 0);
}

TEST_CASE("the highest priority is served first") {
  Bench bench;
  AqlClient low(bench, 64, 0, 1), high(bench, 64, 1, 15), normal(bench, 64, 2, 7);
  Kernel kernel(bench);
  std::vector<uint32_t> order;
  bench.engine->on_start = [&](const vgpu::Dispatch& d) { order.push_back(d.queue_id); };
  for (auto* queue : {&low, &normal, &high}) queue->submit(dispatch_packet(kernel.va));
  bench.run();
  CHECK(order == std::vector<uint32_t>{1, 2, 0});
}

TEST_CASE("a queue's mask of compute units goes to its dispatches") {
  Bench bench;
  vgpu::CuMask mask{};
  mask[3] = 0x10001;
  AqlClient aql_queue(bench, 64, 0);
  Pm4Client pm4(bench, 1024, 1);
  Kernel kernel(bench);
  aql_queue.submit(dispatch_packet(kernel.va));
  bench.run();
  bench.cp->set_cu_mask(0, mask);
  bench.cp->set_cu_mask(1, mask);
  aql_queue.submit(dispatch_packet(kernel.va));
  bench.run();
  pm4.submit(launch_words());
  bench.run();
  pm4.submit({0xc0017600, 0x21a, 5});  // COMPUTE_STATIC_THREAD_MGMT_SE3
  pm4.submit(launch_words());
  bench.run();
  REQUIRE(bench.engine->started.size() == 4);
  CHECK(bench.engine->started[0].cus == vgpu::kAllCus);
  CHECK(bench.engine->started[1].cus == mask);
  CHECK(bench.engine->started[2].cus == mask);
  mask[3] = 5;
  CHECK(bench.engine->started[3].cus == mask);
}

TEST_CASE("reset_at_packet: the driver hears of a hang when that packet starts, once") {
  auto config = gfx90a_config();
  config.reset_at_packet = 3;
  Bench bench(config);
  AqlClient queue(bench, 64, 0);
  Pm4Client pm4(bench, 1024, 1);
  queue.submit(barrier_packet({}, 0));
  pm4.submit({0xffff1000});
  bench.run();
  CHECK(bench.reports.hangs.empty());
  queue.submit(barrier_packet({}, 0));
  queue.submit(barrier_packet({}, 0));
  bench.run();
  REQUIRE(bench.reports.hangs.size() == 1);
  CHECK(bench.reports.hangs[0].find("reset=") != std::string::npos);
}
