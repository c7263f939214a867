// A GPU of shader cores alone: loads compiled kernels, makes the dispatch registers as a command processor
// would, runs.
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tools/vgpu/kernel/gpu_config.h"
#include "tools/vgpu/memory/address_space.h"
#include "tools/vgpu/shader/engine.h"

namespace vgpu {

/// Memory that the GPU sees at `va` and the test at `host`; the two differ on purpose.
struct TestBuffer {
  uint64_t va = 0;
  std::byte* host = nullptr;
  template <class T>
  T* as() const {
    return reinterpret_cast<T*>(host);
  }
};

struct Launch {
  uint32_t grid[3] = {64, 1, 1};
  uint32_t group[3] = {64, 1, 1};
  uint32_t dynamic_lds = 0;
  uint32_t private_bytes = 0;  ///< per lane, when more than the kernel states (recursion)
};

class Machine final : public ShaderSink {
 public:
  explicit Machine(std::string gfx, uint64_t seed = 1, Hostile hostile = {}, uint32_t compute_units = 4);
  ~Machine() override;

  /// Loads the code object that the build made of kernels.hip for this target and optimization level ('0' or
  /// '3').
  void load_kernels(const std::string& variant);
  /// Loads what the build made of traps.S for this target.
  void load_programs();
  void load_image(const std::vector<char>& file);
  TestBuffer allocate(size_t bytes, bool writable = true, bool executable = false, bool host_memory = false);
  void unmap(const TestBuffer& buffer);
  Dispatch dispatch(const std::string& kernel, const Launch& launch, const std::vector<uint64_t>& kernarg);
  /// One wave of a program without a kernel descriptor (`waves` of them in one work-group).
  Dispatch bare_dispatch(const std::string& program, uint32_t waves = 1);
  /// Address of a symbol of the loaded image.
  uint64_t symbol(const std::string& name) const { return symbols_.at(name); }

  ShaderEngine& engine() { return *engine_; }
  /// Starts and runs to the end or to `budget` instructions. True: it finished.
  bool run(const Dispatch& dispatch, uint64_t budget = 20'000'000);

  void on_wave_error(const Dispatch&, const WaveError& error) override { errors.push_back(error); }
  void on_shader_interrupt(const Dispatch&, uint32_t data, bool priv) override {
    interrupts.push_back(data);
    interrupt_priv = priv;
  }
  uint64_t gpu_clock() override { return ++clock_ * 100; }

  GpuConfig config;
  std::vector<WaveError> errors;
  std::vector<uint32_t> interrupts;
  bool interrupt_priv = false;
  ShaderEngine::DispatchId last_id = 0;

 private:
  struct Block {
    TestBuffer buffer;
    size_t size = 0;
    std::unique_ptr<std::byte[]> storage;
  };
  uint64_t next_va_ = 0x7e5000000000;
  uint64_t clock_ = 0;
  AddressSpace space_;
  std::vector<Block> blocks_;
  std::map<std::string, uint64_t> symbols_;
  std::map<std::string, std::byte*> hosts_;
  std::unique_ptr<ShaderEngine> engine_;
};

/// Kernel arguments, each aligned as the ABI says.
class Arguments {
 public:
  template <class T>
  Arguments& add(T value) {
    const size_t at = (bytes_.size() + sizeof(T) - 1) / sizeof(T) * sizeof(T);
    bytes_.resize(at + sizeof(T));
    std::memcpy(bytes_.data() + at, &value, sizeof(T));
    return *this;
  }
  Arguments& add(const TestBuffer& buffer) { return add(buffer.va); }
  std::vector<uint64_t> words() const {
    std::vector<uint64_t> words((bytes_.size() + 7) / 8);
    std::memcpy(words.data(), bytes_.data(), bytes_.size());
    return words;
  }

 private:
  std::vector<std::byte> bytes_;
};

}  // namespace vgpu
