// A PM4 compute queue as a client feeds it.
#pragma once

#include "tests/unit/vcp/bench.h"

namespace vcp_test {

inline uint32_t lo(uint64_t v) { return static_cast<uint32_t>(v); }
inline uint32_t hi(uint64_t v) { return static_cast<uint32_t>(v >> 32); }

class Pm4Client {
 public:
  explicit Pm4Client(Bench& bench, uint32_t dwords = 1024, uint32_t queue_id = 0)
      : bench_(bench), dwords_(dwords), ring_va(bench.allocate(dwords * 4, 4096)), pointers_va(bench.allocate(64)) {
    params.queue_id = queue_id;
    params.type = vgpu::QueueType::kPm4Compute;
    params.ring_va = ring_va;
    params.ring_bytes = dwords * 4;
    params.read_ptr_va = pointers_va;
    params.write_ptr_va = pointers_va + 8;
    params.doorbell_id = queue_id + 200;
    params.doorbell = &doorbell;
    bench.host<uint32_t>(pointers_va)[1] = kGuard;
    bench.cp->add_queue(params);
  }

  void place(const std::vector<uint32_t>& words) {
    for (const uint32_t word : words) bench_.host<uint32_t>(ring_va)[put_++ % dwords_] = word;
  }
  void publish() { *bench_.host<uint64_t>(pointers_va + 8) = put_; }
  void ring() { doorbell.store(put_); }
  void submit(const std::vector<uint32_t>& words) {
    place(words);
    publish();
    ring();
  }
  uint64_t written() const { return put_; }
  uint32_t dwords() const { return dwords_; }
  /// 32 bits, and nothing beside them.
  uint32_t read_index() {
    CHECK(bench_.host<uint32_t>(pointers_va)[1] == kGuard);
    return *bench_.host<uint32_t>(pointers_va);
  }

 private:
  static constexpr uint32_t kGuard = 0xa5a5a5a5;
  Bench& bench_;
  uint32_t dwords_;
  uint64_t put_ = 0;

 public:
  uint64_t ring_va, pointers_va;
  vgpu::QueueParams params;
  std::atomic<uint64_t> doorbell{vgpu::kDoorbellNeverRung};
};

/// One work-group of 64 work-items.
inline std::vector<uint32_t> launch_words() {
  return {0xc0027600, 0x20c, 0x7f000041, 0, 0xc0037600, 0x207, 64, 1, 1, 0xc0031500, 1, 1, 1, 0x5};
}

}  // namespace vcp_test
