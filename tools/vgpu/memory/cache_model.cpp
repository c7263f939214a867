#include "tools/vgpu/memory/cache_model.h"

#include <algorithm>
#include <array>
#include <bitset>
#include <cstring>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "tools/vgpu/kernel/gpu_config.h"

namespace vgpu {
namespace {

constexpr uint64_t kLineBytes = 64;
constexpr size_t kFirstLevelLines = 128;  // small, so that programs also meet misses
constexpr size_t kL2Lines = 8192;

using Bytes = std::array<std::byte, kLineBytes>;

/// Lines are named by where memory keeps them, so that two GPU addresses of one page share a line.
using LineKey = const std::byte*;

struct L2Line {
  uint64_t va = 0;  ///< an address that mapped it, to check on write back that the memory is still there
  Bytes bytes{};
  std::bitset<kLineBytes> dirty;
};

struct FirstLevel {
  std::unordered_map<LineKey, Bytes> lines;
};

class StaleCaches final : public CacheModel {
 public:
  StaleCaches(const GpuConfig& config, AddressSpace& memory) : memory_(memory), random_(config.seed | 1) {
    cus_.resize(std::max(config.cu_count, 1u));
  }

  bool load(Client client, uint32_t cu, uint64_t va, void* out, uint32_t size, CachePolicy policy,
            MemoryFault& fault) override {
    const Locked lock(*this);
    auto* to = static_cast<std::byte*>(out);
    const Access access = client == Client::kInstruction ? Access::kExecute : Access::kRead;
    if (!accessible(va, size, access, fault)) return false;
    return by_line(va, size, [&](const Mapping& m, uint64_t at, uint32_t offset, uint32_t bytes, uint32_t done) {
      Bytes line;
      const LineKey key = line_of(m, at);
      auto& lines = first_level(client, cu).lines;
      const auto hit = lines.find(key);
      if (hit != lines.end() && !policy.bypass_l1) {
        line = hit->second;
      } else {
        line = below_first_level(m, at, policy.bypass_l2);
        if (hit == lines.end()) make_room(lines, kFirstLevelLines);
        lines[key] = line;
      }
      std::memcpy(to + done, line.data() + offset, bytes);
    });
  }

  bool store(uint32_t cu, uint64_t va, const void* data, uint32_t size, CachePolicy policy,
             MemoryFault& fault) override {
    const Locked lock(*this);
    const auto* from = static_cast<const std::byte*>(data);
    if (!accessible(va, size, Access::kWrite, fault)) return false;
    return by_line(va, size, [&](const Mapping& m, uint64_t at, uint32_t offset, uint32_t bytes, uint32_t done) {
      put(cu, m, at, offset, from + done, bytes, policy.bypass_l2);
    });
  }

  bool atomic(uint32_t cu, uint64_t va, uint32_t size, const std::function<uint64_t(uint64_t)>& apply, uint64_t& old,
              MemoryFault& fault) override {
    const Locked lock(*this);
    if (!accessible(va, size, Access::kWrite, fault)) return false;
    const Mapping m = memory_.find(va);
    first_level(Client::kVector, cu).lines.erase(line_of(m, va));
    if (!in_l2(m, false)) {
      old = size == 8 ? update<uint64_t>(m.host + (va - m.va), apply) : update<uint32_t>(m.host + (va - m.va), apply);
      return true;
    }
    const auto offset = static_cast<uint32_t>(va % kLineBytes);
    L2Line& line = l2_line(m, va);
    old = 0;
    std::memcpy(&old, line.bytes.data() + offset, size);
    const uint64_t next = apply(old);
    std::memcpy(line.bytes.data() + offset, &next, size);
    for (uint32_t i = 0; i < size; ++i) line.dirty.set(offset + i);
    return true;
  }

  void invalidate_l1(int32_t cu, bool vector, bool scalar, bool instruction) override {
    const Locked lock(*this);
    const size_t first = cu < 0 ? 0 : static_cast<size_t>(cu) % cus_.size();
    const size_t last = cu < 0 ? cus_.size() : first + 1;
    for (size_t i = first; i < last; ++i) {
      if (vector) cus_[i][static_cast<size_t>(Client::kVector)].lines.clear();
      if (scalar) cus_[i][static_cast<size_t>(Client::kScalar)].lines.clear();
      if (instruction) cus_[i][static_cast<size_t>(Client::kInstruction)].lines.clear();
    }
  }

  void write_back_l2() override {
    const Locked lock(*this);
    for (auto& [key, line] : l2_) write_back(key, line);
  }

  void invalidate_l2() override {
    const Locked lock(*this);
    std::erase_if(l2_, [](const auto& entry) { return entry.second.dirty.none(); });
    for (auto& [key, line] : l2_) refresh(key, line);
  }

 private:
  /// The model's lock and a ReadGuard. Lines of mappings that went away are dropped before anything is looked up.
  class Locked {
   public:
    explicit Locked(StaleCaches& caches) : lock_(caches.mutex_), guard_(caches.memory_) { caches.follow_mappings(); }

   private:
    std::lock_guard<std::mutex> lock_;
    AddressSpace::ReadGuard guard_;
  };

  static LineKey line_of(const Mapping& m, uint64_t va) { return m.host + (va - va % kLineBytes - m.va); }
  static bool in_l2(const Mapping& m, bool bypass) {
    return !bypass && (m.mtype == MemType::kRW || m.mtype == MemType::kNC);
  }
  FirstLevel& first_level(Client client, uint32_t cu) { return cus_[cu % cus_.size()][static_cast<size_t>(client)]; }

  bool accessible(uint64_t va, uint32_t size, Access access, MemoryFault& fault) const {
    for (uint64_t at = va; at < va + size;) {
      const Mapping m = memory_.find(at);
      const bool allowed = access == Access::kRead || (access == Access::kWrite ? m.writable : m.executable);
      if (m.size == 0 || !allowed) {
        fault = {at, access, m.size == 0};
        return false;
      }
      at = m.va + m.size;
    }
    return true;
  }

  /// `each(mapping, va, offset in line, bytes, bytes done before)` for every line of an accessible range.
  template <class F>
  bool by_line(uint64_t va, uint32_t size, F each) {
    for (uint32_t done = 0; done < size;) {
      const uint64_t at = va + done;
      const auto offset = static_cast<uint32_t>(at % kLineBytes);
      const auto bytes = std::min<uint32_t>(size - done, static_cast<uint32_t>(kLineBytes) - offset);
      each(memory_.find(at), at, offset, bytes, done);
      done += bytes;
    }
    return true;
  }

  Bytes from_memory(LineKey key) const {
    Bytes bytes;
    std::memcpy(bytes.data(), key, kLineBytes);
    return bytes;
  }

  Bytes below_first_level(const Mapping& m, uint64_t va, bool bypass_l2) {
    if (in_l2(m, false)) {
      L2Line& line = l2_line(m, va);
      if (bypass_l2) refresh(line_of(m, va), line);
      return line.bytes;
    }
    return from_memory(line_of(m, va));
  }

  /// Clean bytes are read from memory again: what an access that must see memory finds.
  void refresh(LineKey key, L2Line& line) {
    const Bytes memory = from_memory(key);
    for (size_t i = 0; i < kLineBytes; ++i) {
      if (!line.dirty.test(i)) line.bytes[i] = memory[i];
    }
  }

  L2Line& l2_line(const Mapping& m, uint64_t va) {
    const LineKey key = line_of(m, va);
    if (const auto hit = l2_.find(key); hit != l2_.end()) return hit->second;
    if (l2_.size() >= kL2Lines) evict_one();
    L2Line& line = l2_[key];
    line.va = va - va % kLineBytes;
    line.bytes = from_memory(key);
    return line;
  }

  void put(uint32_t cu, const Mapping& m, uint64_t va, uint32_t offset, const std::byte* data, uint32_t bytes,
           bool through) {
    const LineKey key = line_of(m, va);
    auto& lines = first_level(Client::kVector, cu).lines;
    if (const auto hit = lines.find(key); hit != lines.end()) std::memcpy(hit->second.data() + offset, data, bytes);
    if (!in_l2(m, false)) {
      std::memcpy(m.host + (va - m.va), data, bytes);
      return;
    }
    L2Line& line = l2_line(m, va);
    std::memcpy(line.bytes.data() + offset, data, bytes);
    for (uint32_t i = 0; i < bytes; ++i) line.dirty.set(offset + i, !through);
    if (through) std::memcpy(m.host + (va - m.va), data, bytes);
  }

  template <class T>
  static uint64_t update(std::byte* host, const std::function<uint64_t(uint64_t)>& apply) {
    T* at = reinterpret_cast<T*>(host);
    T seen = __atomic_load_n(at, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(at, &seen, static_cast<T>(apply(seen)), false, __ATOMIC_SEQ_CST,
                                        __ATOMIC_RELAXED)) {
    }
    return seen;
  }

  void write_back(LineKey key, L2Line& line) {
    if (line.dirty.none()) return;
    const Mapping m = memory_.find(line.va);
    if (m.size != 0 && line_of(m, line.va) == key) {
      std::byte* to = m.host + (line.va - m.va);
      for (size_t i = 0; i < kLineBytes; ++i) {
        if (line.dirty.test(i)) to[i] = line.bytes[i];
      }
    }
    line.dirty.reset();
  }

  void evict_one() {
    auto victim = l2_.begin();
    std::advance(victim, static_cast<ptrdiff_t>(next_random() % 16));
    write_back(victim->first, victim->second);
    l2_.erase(victim);
  }

  void make_room(std::unordered_map<LineKey, Bytes>& lines, size_t limit) {
    if (lines.size() < limit) return;
    auto victim = lines.begin();
    std::advance(victim, static_cast<ptrdiff_t>(next_random() % 16));
    lines.erase(victim);
  }

  void follow_mappings() {
    const uint64_t now = memory_.generation();
    if (now == generation_) return;
    generation_ = now;
    // The driver flushes caches and TLBs when it unmaps; lines of memory that is gone are lost with it.
    std::erase_if(l2_, [this](auto& entry) {
      const Mapping m = memory_.find(entry.second.va);
      return m.size == 0 || line_of(m, entry.second.va) != entry.first;
    });
    for (auto& cu : cus_) {
      for (FirstLevel& cache : cu) cache.lines.clear();
    }
  }

  uint64_t next_random() {
    random_ ^= random_ << 13;
    random_ ^= random_ >> 7;
    random_ ^= random_ << 17;
    return random_;
  }

  AddressSpace& memory_;
  std::mutex mutex_;
  uint64_t random_;
  uint64_t generation_ = ~0ull;
  std::vector<std::array<FirstLevel, 3>> cus_;
  std::unordered_map<LineKey, L2Line> l2_;
};

}  // namespace

std::unique_ptr<CacheModel> CacheModel::create(const GpuConfig& config, AddressSpace& memory) {
  if (!config.hostile.stale_caches) return nullptr;
  return std::make_unique<StaleCaches>(config, memory);
}

}  // namespace vgpu
