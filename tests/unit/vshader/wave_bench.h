// One wave (or a few of one work-group) without an engine: decode one instruction and execute it on registers, LDS and
// memory that the test set.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tools/vgpu/isa/decoder.h"
#include "tools/vgpu/shader/exec_table.h"
#include "tools/vgpu/shader/memory_port.h"
#include "tools/vgpu/shader/work_group.h"

namespace vgpu {

class WaveBench final : public WaveHost {
 public:
  static constexpr uint64_t kMemoryVa = 0x7f1234560000;
  static constexpr uint32_t kMemoryBytes = 8192, kLdsBytes = 65536, kRows = 512;

  WaveBench(std::string_view gfx, bool wave32, uint32_t waves = 1)
      : decoder_(*find_isa_target(gfx)),
        registers_(size_t{waves} * kRows * 64 + 16),
        memory_(kMemoryBytes + 4096),
        lds_(kLdsBytes) {
    config_.gfx = gfx;
    config_.cu_count = 1;
    config_.shader_engines = 1;
    dispatch_.target = find_shader_target(gfx);
    dispatch_.dispatch.wave32 = wave32;
    group_.dispatch = &dispatch_;
    group_.host = this;
    group_.waves.resize(waves);
    const auto address = reinterpret_cast<uintptr_t>(memory_.data());
    bytes_ = memory_.data() + (4096 - address % 4096) % 4096;
    space_.map({.va = kMemoryVa, .size = kMemoryBytes, .host = bytes_, .writable = true});
    uint32_t* rows = registers_.data() + (64 - reinterpret_cast<uintptr_t>(registers_.data()) % 64) / 4 % 16;
    for (Wave& w : group_.waves) {
      w.v = rows;
      rows += kRows * 64;
      w.vgpr_count = 256;
      w.acc_base = 256;
      w.acc_count = 256;
      w.wave32 = wave32;
      w.lane_mask = wave32 ? 0xffffffffull : ~0ull;
      w.group = &group_;
      w.memory = &port_;
      w.lds = lds_.data();
      w.lds_bytes = kLdsBytes;
      w.mode = 0x3f0;
    }
  }

  /// Which wave the other functions mean.
  void select(uint32_t n) { current_ = n; }
  Wave& wave() { return group_.waves[current_]; }
  DispatchState& dispatch() { return dispatch_; }
  std::byte* memory() { return bytes_; }
  std::byte* lds() { return lds_.data(); }

  /// Decodes what execute_decoded() runs. False when the words are no instruction.
  bool decode(std::span<const uint32_t> words) {
    if (!decoder_.decode(words, wave().wave32, inst_)) return false;
    inst_.exec = exec_function(inst_);
    return true;
  }
  const Inst& inst() const { return inst_; }
  void execute_decoded() {
    port_.revalidate();
    wave().next_pc = wave().pc + inst_.size;
    inst_.exec(wave(), inst_);
  }

  /// Both. False when the words are no instruction.
  bool execute(std::span<const uint32_t> words) {
    if (!decode(words)) return false;
    execute_decoded();
    return true;
  }

  AddressSpace& space() { return space_; }

  const GpuConfig& config() const override { return config_; }
  void interrupt(const Wave&, uint32_t data) override { interrupts.push_back(data); }
  void invalidate_instructions() override {}
  uint64_t gpu_clock() override { return 100; }
  uint64_t cycles() override { return 4; }

  std::vector<uint32_t> interrupts;

 private:
  GpuConfig config_;
  Decoder decoder_;
  Inst inst_;
  AddressSpace space_;
  MemoryPort port_{space_};
  std::vector<uint32_t> registers_;
  std::vector<std::byte> memory_;
  std::vector<std::byte> lds_;
  std::byte* bytes_ = nullptr;
  DispatchState dispatch_;
  WorkGroup group_;
  uint32_t current_ = 0;
};

}  // namespace vgpu
