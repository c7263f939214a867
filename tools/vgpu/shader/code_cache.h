// Decoded instructions by address: the instruction cache of the model.
//
// Words are kept as they were first fetched, in lines of 64 bytes, until invalidate(): code that is rewritten
// without an invalidation goes on executing as it was, as on hardware. After an invalidation a page is
// compared with memory when it is used next, and only what changed is decoded again.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>

#include "tools/vgpu/isa/decoder.h"
#include "tools/vgpu/shader/memory_port.h"
#include "tools/vgpu/shader/wave.h"

namespace vgpu {

class CodeCache {
 public:
  static constexpr uint32_t kPageBytes = 4096, kLineBytes = 64, kWords = kPageBytes / 4;

  struct Page {
    uint64_t va = 0;
    uint64_t lines = 0;            ///< which lines of `words` are filled
    uint64_t checked_mapping = 0;  ///< epoch in which it was last known to be mapped executable
    uint64_t checked_words = 0;    ///< epoch in which `words` last agreed with memory
    std::array<uint32_t, kWords> words{};
    std::array<std::unique_ptr<Inst>, kWords> slots;
    std::array<uint8_t, kWords> sgpr_end{};  ///< of the instruction in the slot: highest SGPR + 1
  };

  CodeCache(IsaTarget target, bool wave32, MemoryPort& port);

  /// The instruction at wave.pc, or null after raising on the wave. `page` is the caller's memory of the last
  /// page; it is valid for one turn.
  const Inst* fetch(Wave& wave, Page*& page) {
    if (!page || (wave.pc ^ page->va) >= kPageBytes) {
      page = usable_page(wave);
      if (!page) return nullptr;
    }
    const uint32_t slot = static_cast<uint32_t>(wave.pc & (kPageBytes - 1)) / 4;
    const Inst* inst = page->slots[slot].get();
    if (!inst) {
      inst = decode(wave, *page);
      if (!inst) return nullptr;
    }
    if (inst->vgpr_end > wave.vgpr_count || inst->agpr_end > wave.acc_count) {
      wave.raise(WaveError::Kind::kIllegalInstruction, "a vector register beyond the wave's allocation");
      return nullptr;
    }
    if (page->sgpr_end[slot] > wave.sgpr_count) {
      wave.raise(WaveError::Kind::kIllegalInstruction, "a scalar register beyond the wave's allocation");
      return nullptr;
    }
    return inst;
  }

  void invalidate() { ++words_epoch_; }  ///< between turns only
  void mappings_changed() { ++mapping_epoch_; }
  std::string text_at(uint64_t pc) const;  ///< empty when nothing was decoded there

 private:
  Page* usable_page(Wave& wave);
  bool read_line(uint64_t va, uint32_t cu, uint32_t* words, MemoryFault& fault);
  bool agrees_with_memory(const Page& page, uint32_t cu);
  const Inst* decode(Wave& wave, Page& page);
  bool fill_line(Page& page, uint32_t word, uint32_t cu, MemoryFault& fault);
  Page* page_for_tail(uint64_t va);

  Decoder decoder_;
  bool wave32_;
  MemoryPort& port_;
  uint64_t words_epoch_ = 1, mapping_epoch_ = 1;
  std::unordered_map<uint64_t, std::unique_ptr<Page>> pages_;
};

}  // namespace vgpu
