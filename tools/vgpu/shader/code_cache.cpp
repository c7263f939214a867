#include "tools/vgpu/shader/code_cache.h"

#include <algorithm>
#include <cstring>

#include "tools/vgpu/memory/cache_model.h"
#include "tools/vgpu/shader/exec_table.h"
#include "tools/vgpu/shader/work_group.h"

namespace vgpu {
namespace {

// VCC, FLAT_SCRATCH, TTMPs and what else is no general register does not count.
uint8_t highest_sgpr(const Inst& inst) {
  constexpr uint32_t kGeneral = 102;
  uint32_t end = 0;
  const auto count = [&end](const Operand& operand) {
    if (operand.is_sgpr() && operand.index < kGeneral) end = std::max(end, uint32_t{operand.index} + operand.dwords);
  };
  for (const Operand& operand : inst.dst) count(operand);
  for (const Operand& operand : inst.src) count(operand);
  return static_cast<uint8_t>(std::min(end, kGeneral));
}

}  // namespace

CodeCache::CodeCache(IsaTarget target, bool wave32, MemoryPort& port)
    : decoder_(target), wave32_(wave32), port_(port) {}

CodeCache::Page* CodeCache::usable_page(Wave& wave) {
  const uint64_t va = wave.pc & ~uint64_t{kPageBytes - 1};
  std::unique_ptr<Page>& entry = pages_[va];
  if (!entry) {
    entry = std::make_unique<Page>();
    entry->va = va;
    entry->checked_words = words_epoch_;
  }
  if (entry->checked_mapping != mapping_epoch_) {
    MemoryFault fault;
    if (!port_.translate(wave.pc, 4, Access::kExecute, fault)) {
      wave.raise_fault(fault, 0);
      return nullptr;
    }
    entry->checked_mapping = mapping_epoch_;
  }
  if (entry->checked_words != words_epoch_) {
    if (!agrees_with_memory(*entry, wave.group->cu)) {
      // An instruction may reach into the next page, so neighbours go too.
      pages_.clear();
      return usable_page(wave);
    }
    entry->checked_words = words_epoch_;
  }
  return entry.get();
}

bool CodeCache::read_line(uint64_t va, uint32_t cu, uint32_t* words, MemoryFault& fault) {
  const std::byte* bytes = port_.translate(va, kLineBytes, Access::kExecute, fault);
  if (!bytes) return false;
  if (CacheModel* caches = port_.caches()) {
    return caches->load(CacheModel::Client::kInstruction, cu, va, words, kLineBytes, {}, fault);
  }
  std::memcpy(words, bytes, kLineBytes);
  return true;
}

bool CodeCache::agrees_with_memory(const Page& page, uint32_t cu) {
  for (uint32_t line = 0; line < kPageBytes / kLineBytes; ++line) {
    if (((page.lines >> line) & 1) == 0) continue;
    MemoryFault fault;
    uint32_t now[kLineBytes / 4];
    if (!read_line(page.va + line * kLineBytes, cu, now, fault)) return false;
    if (std::memcmp(now, page.words.data() + line * (kLineBytes / 4), kLineBytes) != 0) return false;
  }
  return true;
}

bool CodeCache::fill_line(Page& page, uint32_t word, uint32_t cu, MemoryFault& fault) {
  const uint32_t line = word / (kLineBytes / 4);
  if ((page.lines >> line) & 1) return true;
  if (!read_line(page.va + line * kLineBytes, cu, page.words.data() + line * (kLineBytes / 4), fault)) return false;
  page.lines |= 1ull << line;
  return true;
}

// The page behind, for the last words of an instruction that crosses the border; null where there is none.
CodeCache::Page* CodeCache::page_for_tail(uint64_t va) {
  const auto found = pages_.find(va);
  if (found != pages_.end()) return found->second.get();
  MemoryFault fault;
  if (!port_.translate(va, 4, Access::kExecute, fault)) return nullptr;
  auto page = std::make_unique<Page>();
  page->va = va;
  page->checked_words = words_epoch_;
  page->checked_mapping = mapping_epoch_;
  return pages_.emplace(va, std::move(page)).first->second.get();
}

const Inst* CodeCache::decode(Wave& wave, Page& page) {
  const uint32_t first = static_cast<uint32_t>(wave.pc & (kPageBytes - 1)) / 4;
  std::array<uint32_t, 4> words{};
  uint32_t count = 0;
  for (; count < words.size(); ++count) {
    const uint32_t at = first + count;
    Page* from = at < kWords ? &page : page_for_tail(page.va + kPageBytes);
    MemoryFault fault;
    if (!from || !fill_line(*from, at % kWords, wave.group->cu, fault)) {
      if (count != 0) break;
      wave.raise_fault(fault, 0);
      return nullptr;
    }
    words[count] = from->words[at % kWords];
  }
  auto inst = std::make_unique<Inst>();
  if (!decoder_.decode({words.data(), count}, wave32_, *inst)) {
    inst->op = Op::kNone;
    if (inst->size == 0) inst->size = 4;
    inst->raw = words[0] | uint64_t{words[1]} << 32;
  }
  inst->exec = exec_function(*inst);
  page.sgpr_end[first] = highest_sgpr(*inst);
  page.slots[first] = std::move(inst);
  return page.slots[first].get();
}

std::string CodeCache::text_at(uint64_t pc) const {
  const auto found = pages_.find(pc & ~uint64_t{kPageBytes - 1});
  if (found == pages_.end()) return {};
  const Inst* inst = found->second->slots[(pc & (kPageBytes - 1)) / 4].get();
  return inst && inst->op != Op::kNone ? decoder_.text(*inst) : std::string();
}

}  // namespace vgpu
