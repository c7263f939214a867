#include "tools/vgpu/cp/ring_queue.h"

#include <algorithm>

namespace vgpu {
namespace {

constexpr uint64_t kDropOneIn = 4;  // hostile drop_doorbells

}  // namespace

void RingQueue::mapped(bool doorbell_lost) {
  if (doorbell_lost) doorbell_.forget();
  remapped_ = true;
}

bool RingQueue::refuse(const std::string& text) {
  // A decoder's texts name the engine already.
  report_error(0, text.starts_with(engine_) ? text : std::string(engine_) + ": " + text);
  return false;
}

bool RingQueue::take_write_pointer() {
  auto value = doorbell_.poll();
  if (value && gpu_.config.hostile.drop_doorbells && gpu_.random.one_in(kDropOneIn)) {
    mapped(true);
    value.reset();
  }
  if (remapped_) {
    remapped_ = false;
    const auto in_memory = gpu_.memory.load<uint64_t>(params_.write_ptr_va);
    if (!in_memory) {
      report_fault(in_memory.error());
      return true;
    }
    // What the engine knows already is not taken back by a client that only rings.
    if (!value && static_cast<int64_t>(*in_memory * unit_ - write_) > 0) value = *in_memory;
  }
  return value && *value * unit_ != write_ && set_write_pointer(*value);
}

bool RingQueue::set_write_pointer(uint64_t value) {
  const uint64_t bytes = value * unit_;
  if (bytes % 4 != 0) return refuse("write pointer " + std::to_string(value) + " is not a whole number of dwords");
  if (bytes - read_ > params_.ring_bytes) {
    return refuse("write pointer " + std::to_string(value) + " is not within one ring of read pointer " +
                  std::to_string(read_ / unit_));
  }
  write_ = bytes;
  starved_ = false;
  return true;
}

MemResult<std::vector<uint32_t>> RingQueue::ring_dwords(uint64_t first, uint64_t count) {
  std::vector<uint32_t> out(count);
  const uint64_t offset = (read_ + first * 4) % params_.ring_bytes;
  const uint64_t before_end = std::min(count * 4, params_.ring_bytes - offset);
  auto read = gpu_.memory.read(params_.ring_va + offset, out.data(), before_end);
  if (read && before_end < count * 4) {
    read = gpu_.memory.read(params_.ring_va, out.data() + before_end / 4, count * 4 - before_end);
  }
  if (!read) return std::unexpected(read.error());
  return out;
}

}  // namespace vgpu
