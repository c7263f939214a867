#include "tests/unit/vshader/machine.h"

#include <elf.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace vgpu {
namespace {

// Kernel descriptor and its fields: LLVM's AMDGPU user guide.
struct Descriptor {
  uint32_t group_bytes, private_bytes, kernarg_bytes, reserved;
  int64_t entry_offset;
  uint32_t reserved2[5];
  uint32_t rsrc3, rsrc1, rsrc2;
  uint16_t properties, preload;
  uint32_t reserved3;
};
static_assert(sizeof(Descriptor) == 64);

constexpr uint64_t kPage = 4096;

std::vector<char> read_built(const std::string& name) {
  const char* folder = std::getenv("VSHADER_KERNELS");
  if (!folder) throw std::runtime_error("VSHADER_KERNELS is not set");
  std::ifstream file(std::string(folder) + "/" + name, std::ios::binary);
  if (!file) throw std::runtime_error(name + " was not built");
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

Machine::Machine(std::string gfx, uint64_t seed, Hostile hostile, uint32_t compute_units) {
  config.gfx = std::move(gfx);
  config.cu_count = compute_units;
  config.shader_engines = 1;
  config.waves_per_cu = 32;
  config.max_slots_scratch_cu = 32;
  config.lds_bytes_per_cu = 65536;
  config.gpu_clock_hz = 100'000'000;
  config.shared_aperture = 0x1000000000000;
  config.private_aperture = 0x2000000000000;
  config.seed = seed;
  config.hostile = hostile;
  engine_ = ShaderEngine::create(config, space_, *this);
}

Machine::~Machine() = default;

TestBuffer Machine::allocate(size_t bytes, bool writable, bool executable, bool host_memory) {
  const size_t size = (bytes + kPage - 1) / kPage * kPage;
  Block block;
  block.storage = std::make_unique<std::byte[]>(size + kPage);
  block.size = size;
  const auto address = reinterpret_cast<uintptr_t>(block.storage.get());
  block.buffer = {next_va_, block.storage.get() + (kPage - address % kPage) % kPage};
  // A hole behind each buffer, so that running over its end is a fault.
  next_va_ += size + 16 * kPage;
  space_.map({.va = block.buffer.va,
              .size = size,
              .host = block.buffer.host,
              .mtype = host_memory ? MemType::kUC : MemType::kNC,
              .writable = writable,
              .executable = executable,
              .system = host_memory});
  blocks_.push_back(std::move(block));
  return blocks_.back().buffer;
}

void Machine::unmap(const TestBuffer& buffer) {
  for (const Block& block : blocks_) {
    if (block.buffer.va == buffer.va) space_.unmap(buffer.va, block.size);
  }
}

void Machine::load_kernels(const std::string& variant) {
  load_image(read_built("kernels-" + config.gfx + "-O" + variant + ".co"));
}
void Machine::load_programs() { load_image(read_built("traps-" + config.gfx + ".co")); }

void Machine::load_image(const std::vector<char>& file) {
  const auto* header = reinterpret_cast<const Elf64_Ehdr*>(file.data());
  const auto* segments = reinterpret_cast<const Elf64_Phdr*>(file.data() + header->e_phoff);
  uint64_t end = 0;
  for (int i = 0; i < header->e_phnum; ++i) {
    if (segments[i].p_type == PT_LOAD) end = std::max(end, segments[i].p_vaddr + segments[i].p_memsz);
  }
  const TestBuffer image = allocate(end, true, true);
  for (int i = 0; i < header->e_phnum; ++i) {
    if (segments[i].p_type != PT_LOAD) continue;
    std::memcpy(image.host + segments[i].p_vaddr, file.data() + segments[i].p_offset, segments[i].p_filesz);
  }
  const auto* sections = reinterpret_cast<const Elf64_Shdr*>(file.data() + header->e_shoff);
  for (int i = 0; i < header->e_shnum; ++i) {
    if (sections[i].sh_type != SHT_DYNSYM) continue;
    const char* names = file.data() + sections[sections[i].sh_link].sh_offset;
    const auto* symbols = reinterpret_cast<const Elf64_Sym*>(file.data() + sections[i].sh_offset);
    for (size_t k = 0; k < sections[i].sh_size / sizeof(Elf64_Sym); ++k) {
      symbols_[names + symbols[k].st_name] = image.va + symbols[k].st_value;
      hosts_[names + symbols[k].st_name] = image.host + symbols[k].st_value;
    }
  }
}

Dispatch Machine::dispatch(const std::string& kernel, const Launch& launch, const std::vector<uint64_t>& kernarg) {
  Descriptor kd;
  std::memcpy(&kd, hosts_.at(kernel + ".kd"), sizeof kd);
  const TestBuffer arguments = allocate(kernarg.size() * 8 + 512);
  std::memcpy(arguments.host, kernarg.data(), kernarg.size() * 8);
  Dispatch d;
  d.code_va = symbols_.at(kernel + ".kd") + static_cast<uint64_t>(kd.entry_offset);
  d.rsrc1 = kd.rsrc1;
  d.rsrc2 = kd.rsrc2;
  d.rsrc3 = kd.rsrc3;
  d.wave32 = (kd.properties & (1 << 10)) != 0;
  std::memcpy(d.grid.data(), launch.grid, sizeof launch.grid);
  std::memcpy(d.group.data(), launch.group, sizeof launch.group);
  d.lds_bytes = kd.group_bytes + launch.dynamic_lds;
  const uint32_t lane_bytes = std::max(kd.private_bytes, launch.private_bytes);
  if ((d.rsrc2 & 1) != 0 && lane_bytes != 0) {
    d.scratch_wave_bytes = (lane_bytes * (d.wave32 ? 32 : 64) + 1023) / 1024 * 1024;
    d.scratch_waves = 128;
    d.scratch_base = allocate(size_t{d.scratch_wave_bytes} * d.scratch_waves).va;
  }
  const TestBuffer packet = allocate(64);
  d.packet_va = packet.va;
  for (int i = 0; i < 3; ++i) {  // the fields of the AQL packet that code reads
    packet.as<uint16_t>()[2 + i] = static_cast<uint16_t>(launch.group[i]);
    packet.as<uint32_t>()[3 + i] = launch.grid[i];
  }
  d.doorbell_id = 77;
  uint32_t next = 0;
  const auto push = [&](uint64_t value, uint32_t dwords) {
    for (uint32_t k = 0; k < dwords && next < 16; ++k, value >>= 32)
      d.user_sgprs[next++] = static_cast<uint32_t>(value);
  };
  if (kd.properties & 1) {
    push(d.scratch_base | 1ull << 63, 2);  // swizzled
    push(0x00ea4fac'00000000 | (d.scratch_wave_bytes * d.scratch_waves), 2);
  }
  if (kd.properties & 2) push(packet.va, 2);
  if (kd.properties & 4) push(0, 2);
  if (kd.properties & 8) push(arguments.va, 2);
  if (kd.properties & 16) push(0, 2);
  if (kd.properties & 32) push(d.scratch_base, 2);
  if (kd.properties & 64) push(lane_bytes, 1);
  return d;
}

Dispatch Machine::bare_dispatch(const std::string& program, uint32_t waves) {
  Dispatch d;
  d.code_va = symbols_.at(program);
  d.wave32 = config.gfx.rfind("gfx11", 0) == 0;
  d.rsrc1 = 3u << 6 | 0xfu << 16;  // 32 SGPRs, denormals kept
  d.grid[0] = d.group[0] = waves * (d.wave32 ? 32 : 64);
  d.doorbell_id = 77;
  return d;
}

bool Machine::run(const Dispatch& dispatch, uint64_t budget) {
  last_id = engine_->start(dispatch);
  for (uint64_t done = 0; done < budget && !engine_->finished(last_id); done += 10'000) {
    if (!engine_->step(10'000)) break;
  }
  return engine_->finished(last_id);
}

}  // namespace vgpu
