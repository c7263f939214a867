// Whole programs: the waves of one work-group from a known start to the end of their instructions.
#include <algorithm>
#include <cstring>
#include <sstream>

#include "tests/unit/visa/vector_compare.h"
#include "tests/unit/visa/vector_runner.h"
#include "tests/unit/vshader/wave_bench.h"

namespace vectors {
namespace {

using vgpu::Wave;
using vgpu::WaveBench;

constexpr uint64_t kCodeVa = 0x7f0000001000, kArgumentsVa = 0x7f0000010000, kScratchVa = 0x7f0000100000;
constexpr uint32_t kMode = 0x3c0, kScratchBytes = 64 << 10, kStepLimit = 10000;

struct Frame {
  alignas(4096) std::byte arguments[4096] = {};
  std::vector<std::byte> scratch;
};

uint32_t waves_of(const Program& program) {
  const size_t lanes = program.wave32 ? 32 : 64;
  return static_cast<uint32_t>((program.count + lanes - 1) / lanes);
}

/// Registers 0 to 15 of both kinds and the masks are zero, s[80:81] points to the arguments, whose first qword
/// points to zeroed memory; v255 is the lane's number.
void set_up_wave(Wave& w, size_t lanes, uint32_t first_item) {
  w.mode = kMode;
  w.set_mask(vgpu::kExecLo, lanes >= 64 ? ~0ull : (1ull << lanes) - 1);
  w.set_s64(80, kArgumentsVa);
  for (uint32_t lane = 0; lane < w.lanes(); ++lane) w.vgpr(255)[lane] = first_item + lane;
  w.pc = w.next_pc = kCodeVa;
}

void set_up(WaveBench& bench, Frame& frame, const Program& program) {
  const uint64_t buffer = WaveBench::kMemoryVa;
  std::memcpy(frame.arguments, &buffer, sizeof buffer);
  bench.space().map({.va = kArgumentsVa, .size = sizeof frame.arguments, .host = frame.arguments, .writable = true});
  const uint32_t lanes = bench.wave().lanes();
  for (uint32_t n = 0; n < waves_of(program); ++n) {
    bench.select(n);
    set_up_wave(bench.wave(), std::min<size_t>(program.count - n * lanes, lanes), n * lanes);
  }
}

void give_scratch(WaveBench& bench, Frame& frame, const Program& program) {
  const size_t bytes = size_t{kScratchBytes} * (program.wave32 ? 32 : 64);
  frame.scratch.resize(bytes + 4096);
  const auto address = reinterpret_cast<uintptr_t>(frame.scratch.data());
  bench.space().map({.va = kScratchVa,
                     .size = bytes,
                     .host = frame.scratch.data() + (4096 - address % 4096) % 4096,
                     .writable = true});
  bench.dispatch().dispatch.scratch_wave_bytes = static_cast<uint32_t>(bytes);
  bench.wave().flat_scratch = kScratchVa;
}

/// Executes the selected wave to its next barrier or the end. Empty, or why it stopped.
std::string execute(WaveBench& bench, Frame& frame, const Program& program, std::vector<vgpu::Op>& ops) {
  Wave& w = bench.wave();
  for (uint32_t step = 0; step < kStepLimit; ++step) {
    const size_t at = (w.next_pc - kCodeVa) / 4;
    if (at >= program.words.size()) return {};
    if (!bench.decode(std::span(program.words).subspan(at))) return "word " + std::to_string(at) + " does not decode";
    if (bench.inst().format == vgpu::Format::kScratch && frame.scratch.empty()) give_scratch(bench, frame, program);
    w.pc = w.next_pc;
    ops.push_back(bench.inst().op);
    bench.execute_decoded();
    if (w.state == vgpu::WaveState::kFaulted) return "refused: " + w.error.text;
    if (w.state == vgpu::WaveState::kEnded || w.state == vgpu::WaveState::kBarrier) return {};
    w.state = vgpu::WaveState::kRunning;
  }
  return "does not end";
}

struct Expected {
  const Program& program;
  const Value* find(const std::string& name) const {
    for (const Value& value : program.out)
      if (value.name == name) return &value;
    return nullptr;
  }
  uint64_t of(const std::string& name, size_t lane, uint64_t otherwise) const {
    const Value* value = find(name);
    return value != nullptr ? value->at(lane) : otherwise;
  }
};

std::string difference(const std::string& name, size_t lane, uint64_t expected, uint64_t actual) {
  std::ostringstream text;
  text << name << " lane " << lane << std::hex << ": expected " << expected << ", got " << actual;
  return text.str();
}

/// One wave's registers; its lanes are the items from `first` on.
std::string compare(const Wave& w, const Program& program, size_t first) {
  const Expected expected{program};
  const size_t count = std::min<size_t>(program.count - first, w.lanes());
  // Rows on 64 lanes are about the one register that they list.
  const bool all = program.wave32;
  for (unsigned n = 0; n < 16; ++n) {
    const std::string vector = "v" + std::to_string(n), scalar = "s" + std::to_string(n);
    if (all || expected.find(vector) != nullptr) {
      for (size_t lane = 0; lane < count; ++lane) {
        const auto want = static_cast<uint32_t>(expected.of(vector, first + lane, 0));
        if (!same_of_any_type(want, w.vgpr(n)[lane], program.approximate))
          return difference(vector, first + lane, want, w.vgpr(n)[lane]);
      }
    }
    if (!all) continue;
    const auto want = static_cast<uint32_t>(expected.of(scalar, 0, 0));
    if (!same_of_any_type(want, w.s[n], program.approximate)) return difference(scalar, 0, want, w.s[n]);
  }
  if (!all) return {};
  const uint64_t full = count >= 32 ? 0xffffffffu : (1ull << count) - 1;
  const uint64_t vcc = expected.of("vcc", 0, 0), exec = expected.of("exec", 0, full), scc = expected.of("scc", 0, 0);
  if (vcc != w.vcc() && !program.approximate) return difference("vcc", 0, vcc, w.vcc());
  if (exec != w.exec()) return difference("exec", 0, exec, w.exec());
  if (scc != w.scc()) return difference("scc", 0, scc, w.scc());
  return {};
}

}  // namespace

std::string run(const Program& program, const std::string& target, std::vector<vgpu::Op>& ops) {
  const uint32_t waves = waves_of(program);
  WaveBench bench(target, program.wave32, waves);
  Frame frame;
  set_up(bench, frame, program);
  for (bool more = true; more;) {
    more = false;
    for (uint32_t n = 0; n < waves; ++n) {
      bench.select(n);
      if (bench.wave().state == vgpu::WaveState::kBarrier) bench.wave().state = vgpu::WaveState::kRunning;
      std::string stopped = execute(bench, frame, program, ops);
      if (!stopped.empty()) return stopped;
      more = more || bench.wave().state == vgpu::WaveState::kBarrier;
    }
  }
  for (uint32_t n = 0; n < waves; ++n) {
    bench.select(n);
    std::string text = compare(bench.wave(), program, n * bench.wave().lanes());
    if (!text.empty()) return text;
  }
  return {};
}

}  // namespace vectors
