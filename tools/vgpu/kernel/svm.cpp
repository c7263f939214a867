#include "tools/vgpu/kernel/svm.h"

#include <errno.h>

#include <algorithm>

#include "tools/vgpu/kernel/process.h"
#include "tools/vgpu/kernel/user_memory.h"

namespace vgpu {

namespace {

constexpr uint32_t kMostGranularity = 0x3f;

void apply(const uapi::SvmAttribute& wanted, const Process& process, SvmAttributes& to) {
  const auto access = [&](Svm::Access how) {
    for (const auto& device : process.devices) {
      if (device->gpu->gpu_id == wanted.value) to.access[device->gpu->index] = how;
    }
  };
  switch (wanted.type) {
    case uapi::kSvmPreferredLocation: to.preferred = wanted.value; break;
    case uapi::kSvmPrefetchLocation: to.prefetch = wanted.value; break;
    case uapi::kSvmAccess: access(Svm::kAccess); break;
    case uapi::kSvmAccessInPlace: access(Svm::kInPlace); break;
    case uapi::kSvmNoAccess: access(Svm::kNone); break;
    case uapi::kSvmSetFlags: to.flags |= wanted.value; break;
    case uapi::kSvmClearFlags: to.flags &= ~wanted.value; break;
    case uapi::kSvmGranularity: to.granularity = std::min(wanted.value, kMostGranularity); break;
  }
}

// What GET tells of several ranges: what they agree on.
struct Agreement {
  uint32_t preferred = 0, prefetch = 0, flags_and = 0, flags_or = 0, granularity = 0;
  std::vector<uint8_t> access;
};

Agreement of(const SvmAttributes& one) {
  return {one.preferred, one.prefetch, one.flags, one.flags, one.granularity, one.access};
}

void join(Agreement& all, const SvmAttributes& one) {
  if (all.preferred != one.preferred) all.preferred = uapi::kSvmNowhere;
  if (all.prefetch != one.prefetch) all.prefetch = uapi::kSvmNowhere;
  all.flags_and &= one.flags;
  all.flags_or |= one.flags;
  all.granularity = std::min(all.granularity, one.granularity);
  for (size_t i = 0; i < all.access.size(); ++i) {
    if (all.access[i] != one.access[i]) all.access[i] = Svm::kNone;
  }
}

}  // namespace

Svm::Range Svm::fresh(uint64_t end) const {
  Range range;
  range.end = end;
  range.attributes.access.resize(process_.devices.size());
  range.mapped.resize(process_.devices.size());
  return range;
}

Svm::Ranges::const_iterator Svm::first_over(uint64_t start) const {
  auto at = ranges_.upper_bound(start);
  if (at != ranges_.begin() && std::prev(at)->second.end > start) --at;
  return at;
}

bool Svm::overlaps(uint64_t start, uint64_t bytes) const {
  const auto at = first_over(start);
  return bytes != 0 && at != ranges_.end() && at->first < start + bytes;
}

int Svm::check(std::span<const uapi::SvmAttribute> wanted) const {
  for (const uapi::SvmAttribute& each : wanted) {
    bool names_gpu = false;
    switch (each.type) {
      case uapi::kSvmPreferredLocation:
        names_gpu = each.value != uapi::kSvmSystem && each.value != uapi::kSvmNowhere;
        break;
      case uapi::kSvmPrefetchLocation: names_gpu = each.value != uapi::kSvmSystem; break;
      case uapi::kSvmAccess:
      case uapi::kSvmAccessInPlace:
      case uapi::kSvmNoAccess: names_gpu = true; break;
      case uapi::kSvmSetFlags:
      case uapi::kSvmClearFlags:
      case uapi::kSvmGranularity: break;
      default: return -EINVAL;
    }
    if (names_gpu && process_.device(each.value) == nullptr) return -EINVAL;
  }
  return 0;
}

// The client has memory there, and no buffer of ALLOC_MEMORY_OF_GPU is mapped there.
int Svm::check_place(uint64_t start, uint64_t bytes) const {
  if (!protection_of(start, bytes).present) return -EFAULT;
  for (const auto& device : process_.devices) {
    for (const auto& [id, object] : device->objects) {
      const bool over = object->va < start + bytes && start < object->va + object->bytes;
      if (over && object->mapped_anywhere()) return -EADDRINUSE;
    }
  }
  return 0;
}

void Svm::unmap(uint64_t start, Range& range) {
  for (auto& device : process_.devices) {
    uint8_t& mapped = range.mapped[device->gpu->index];
    if (mapped != 0) device->space.unmap(start, range.end - start);
    mapped = 0;
  }
}

int Svm::map(uint64_t start, Range& range) {
  const SvmAttributes& attributes = range.attributes;
  const Protection allowed = protection_of(start, range.end - start);
  for (auto& device : process_.devices) {
    if (attributes.access[device->gpu->index] == kNone) continue;
    if (!device->acquired()) return -EINVAL;
    if (!allowed.readable) return -EFAULT;
    const bool coherent = (attributes.flags & (uapi::kSvmCoherent | uapi::kSvmExtCoherent)) != 0;
    const bool mapped =
        device->space.map({.va = start,
                           .size = range.end - start,
                           .host = reinterpret_cast<std::byte*>(start),
                           .mtype = coherent ? MemType::kUC : MemType::kNC,
                           .writable = allowed.writable && (attributes.flags & uapi::kSvmGpuReadOnly) == 0,
                           .executable = (attributes.flags & uapi::kSvmGpuExecutable) != 0,
                           .system = true});
    if (!mapped) return -EADDRINUSE;
    range.mapped[device->gpu->index] = 1;
  }
  return 0;
}

// A range boundary at `at`. The halves are not mapped yet when this returns.
void Svm::split(uint64_t at) {
  const auto found = ranges_.upper_bound(at);
  if (found == ranges_.begin()) return;
  const auto before = std::prev(found);
  if (before->first == at || before->second.end <= at) return;
  unmap(before->first, before->second);
  Range tail = before->second;
  before->second.end = at;
  ranges_[at] = std::move(tail);
}

int Svm::set(uint64_t start, uint64_t bytes, std::span<const uapi::SvmAttribute> wanted) {
  if (const int error = check(wanted)) return error;
  if (const int error = check_place(start, bytes)) return error;
  const uint64_t end = start + bytes;
  // Neighbours that are only cut get their mappings back at the end.
  const uint64_t first = first_over(start) == ranges_.end() ? start : std::min(start, first_over(start)->first);
  split(start);
  split(end);
  for (uint64_t at = start; at < end;) {
    const auto next = ranges_.lower_bound(at);
    if (next != ranges_.end() && next->first == at) {
      at = next->second.end;
      continue;
    }
    const uint64_t until = next == ranges_.end() ? end : std::min(end, next->first);
    ranges_[at] = fresh(until);
    at = until;
  }
  int result = 0;
  for (auto at = ranges_.lower_bound(first); at != ranges_.end() && at->first <= end; ++at) {
    auto& [place, range] = *at;
    unmap(place, range);
    if (place >= start && place < end) {
      for (const uapi::SvmAttribute& each : wanted) apply(each, process_, range.attributes);
    }
    if (const int error = map(place, range); error != 0 && place >= start && place < end) result = error;
  }
  return result;
}

int Svm::get(uint64_t start, uint64_t bytes, std::span<uapi::SvmAttribute> attributes) const {
  if (const int error = check_place(start, bytes)) return error;
  for (const uapi::SvmAttribute& each : attributes) {
    if (each.type > uapi::kSvmGranularity) return -EINVAL;
  }
  auto at = first_over(start);
  const bool known = at != ranges_.end() && at->first < start + bytes;
  Agreement all = of(known ? at->second.attributes : fresh(0).attributes);
  for (; at != ranges_.end() && at->first < start + bytes; ++at) join(all, at->second.attributes);
  for (uapi::SvmAttribute& each : attributes) {
    switch (each.type) {
      case uapi::kSvmPreferredLocation: each.value = all.preferred; break;
      case uapi::kSvmPrefetchLocation: each.value = all.prefetch; break;
      case uapi::kSvmSetFlags: each.value = all.flags_and; break;
      case uapi::kSvmClearFlags: each.value = ~all.flags_or; break;
      case uapi::kSvmGranularity: each.value = all.granularity; break;
      default: {
        const ProcessDevice* device = process_.device(each.value);
        if (device == nullptr) return -EINVAL;
        constexpr uint32_t kTypes[] = {uapi::kSvmNoAccess, uapi::kSvmAccess, uapi::kSvmAccessInPlace};
        each.type = kTypes[all.access[device->gpu->index]];
      }
    }
  }
  return 0;
}

bool Svm::always_mapped(uint64_t start, uint64_t bytes, uint32_t gpu_index) const {
  uint64_t at = start;
  for (auto range = first_over(start); range != ranges_.end() && at < start + bytes; ++range) {
    if (range->first > at || range->second.mapped[gpu_index] == 0) return false;
    if ((range->second.attributes.flags & uapi::kSvmAlwaysMapped) == 0) return false;
    at = range->second.end;
  }
  return bytes != 0 && at >= start + bytes;
}

void Svm::forget(uint64_t start, uint64_t bytes) {
  if (!overlaps(start, bytes)) return;
  const uint64_t end = start + bytes;
  const uint64_t first = first_over(start)->first;
  split(start);
  split(end);
  for (auto at = ranges_.lower_bound(first); at != ranges_.end() && at->first <= end;) {
    unmap(at->first, at->second);
    if (at->first >= start && at->first < end) {
      at = ranges_.erase(at);
    } else {
      map(at->first, at->second);
      ++at;
    }
  }
}

}  // namespace vgpu
