// Queue management from other threads while the GPU thread steps: effects are whole, and a driver that holds its own
// lock on both sides does not deadlock.
#include <mutex>
#include <thread>

#include "tests/unit/vcp/bench.h"

using namespace vcp_test;

namespace {

/// A driver with one big lock, which its interrupt handlers take too.
class LockingDriver final : public vgpu::InterruptSink {
 public:
  uint64_t gpu_clock() override { return 1; }
  void on_eop_interrupt(uint32_t) override { count(); }
  void on_sdma_trap(uint32_t) override { count(); }
  void on_sq_interrupt(uint32_t, uint32_t, bool) override { count(); }
  void on_memory_fault(uint32_t, const vgpu::MemoryFault&, const vgpu::WaveError*) override { count(); }
  void on_queue_error(uint32_t, uint32_t, uint32_t, const char*) override {
    count();
    processor->evict_all();  // from inside step(), as after a fault
  }
  void on_wave_error(uint32_t, const vgpu::Dispatch&, const vgpu::WaveError&) override { count(); }
  void on_gpu_hang(const char*) override { count(); }

  std::mutex lock;
  int interrupts = 0;
  vgpu::CommandProcessor* processor = nullptr;

 private:
  void count() {
    const std::lock_guard guard(lock);
    ++interrupts;
  }
};

class GpuThread {
 public:
  explicit GpuThread(vgpu::CommandProcessor& cp)
      : thread_([&cp, this] {
          while (!stop_.load()) {
            if (!cp.step()) std::this_thread::yield();
          }
        }) {}
  ~GpuThread() {
    stop_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

bool becomes_zero(const Signal& signal) {
  for (int n = 0; n < 200000; ++n) {
    if (__atomic_load_n(&signal.fields->value, __ATOMIC_ACQUIRE) == 0) return true;
    std::this_thread::yield();
  }
  return false;
}

}  // namespace

TEST_CASE("queues come and go under the driver's lock while others run") {
  Bench bench;  // for its memory; its own processor stays idle
  LockingDriver driver;
  FakeEngine* engine = nullptr;
  auto cp = vgpu::CommandProcessor::create(bench.config, bench.space, driver,
                                           [&](const vgpu::GpuConfig&, vgpu::AddressSpace&, vgpu::ShaderSink& sink) {
                                             auto made = std::make_unique<FakeEngine>(sink);
                                             engine = made.get();
                                             return made;
                                           });
  driver.processor = cp.get();
  AqlClient client(bench);
  bench.cp->remove_queue(0);
  const GpuThread gpu(*cp);
  int completed = 0;
  for (int round = 0; round < 200; ++round) {
    Signal done(bench, 1, 5);
    client.queue->write_dispatch_id = client.queue->read_dispatch_id = 0;
    for (uint32_t i = 0; i < 64; ++i) client.header(i) = 1;
    client.doorbell = vgpu::kDoorbellNeverRung;
    {
      const std::lock_guard guard(driver.lock);
      cp->add_queue(client.params);
    }
    client.submit(barrier_packet({}, done.va));
    completed += becomes_zero(done);
    const std::lock_guard guard(driver.lock);
    cp->remove_queue(client.params.queue_id);  // returns: nothing of the queue is touched any more
  }
  CHECK(completed == 200);
}

TEST_CASE("memory is unmapped while the GPU thread works, after its queue was removed") {
  Bench bench;
  AqlClient client(bench);
  const GpuThread gpu(*bench.cp);
  for (int round = 0; round < 100; ++round) {
    std::unique_ptr<std::byte[]> page(new std::byte[8192]());
    constexpr uint64_t kVa = 0x900000000;
    REQUIRE(bench.space.map({.va = kVa, .size = 4096, .host = page.get(), .writable = true, .system = true}));
    auto* signal = reinterpret_cast<aql::AmdSignal*>(page.get());
    __atomic_store_n(&signal->value, 1, __ATOMIC_RELEASE);
    client.submit(barrier_packet({}, kVa));
    int spins = 0;
    while (__atomic_load_n(&signal->value, __ATOMIC_ACQUIRE) != 0 && ++spins < 200000) std::this_thread::yield();
    REQUIRE(spins < 200000);
    REQUIRE(bench.space.unmap(kVa, 4096));  // a spinning owner frees its signal at once
  }
  CHECK(bench.reports.faults.empty());
}

TEST_CASE("a report may call back into the processor") {
  Bench bench;
  LockingDriver driver;
  auto cp = vgpu::CommandProcessor::create(bench.config, bench.space, driver,
                                           [](const vgpu::GpuConfig&, vgpu::AddressSpace&, vgpu::ShaderSink& sink) {
                                             return std::make_unique<FakeEngine>(sink);
                                           });
  driver.processor = cp.get();
  AqlClient bad(bench, 64, 1), good(bench, 64, 2);
  cp->add_queue(bad.params);
  cp->add_queue(good.params);
  bad.submit(dispatch_packet(0));
  for (int n = 0; n < 100 && cp->step(); ++n) {
  }
  Signal never(bench, 1);
  good.submit(barrier_packet({}, never.va));
  for (int n = 0; n < 100 && cp->step(); ++n) {
  }
  CHECK(never.fields->value == 1);
}
