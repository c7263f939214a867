// Sums with carry: the carry of every lane is a bit of a mask.
#include "tools/vgpu/isa/valu/entries.h"
#include "tools/vgpu/isa/valu/lanes.h"

namespace vgpu::valu {
namespace {

enum class Sum { kAdd, kSub, kSubRev };

/// dst = a +- b (+- carry in); dst[1] gets the carry or borrow of each lane. With clamp the result saturates.
template <Sum kSum, bool kCarryIn>
void sum(Wave& w, const Inst& i) {
  const Source<u32> a(w, i, 0), b(w, i, 1);
  const u64 carry_in = kCarryIn ? mask_source(w, i.src[2]) : 0;
  Result<u32> out;
  u64 carry = 0;
  for (unsigned l = 0; l < w.lanes(); ++l) {
    const u64 x = kSum == Sum::kSubRev ? b[l] : a[l], y = u64{kSum == Sum::kSubRev ? a[l] : b[l]} + (carry_in >> l & 1);
    const u64 wide = kSum == Sum::kAdd ? x + y : x - y;
    const bool overflow = wide >> 32 != 0;
    carry |= u64{overflow} << l;
    out.set(l, i.clamp && overflow ? (kSum == Sum::kAdd ? ~0u : 0u) : static_cast<u32>(wide));
  }
  out.write(w, i);
  write_mask_result(w, i.dst[1], carry);
}

constexpr ExecEntry kEntries[] = {
    {"v_add_co_u32", &sum<Sum::kAdd, false>},       {"v_sub_co_u32", &sum<Sum::kSub, false>},
    {"v_subrev_co_u32", &sum<Sum::kSubRev, false>}, {"v_add_co_ci_u32", &sum<Sum::kAdd, true>},
    {"v_sub_co_ci_u32", &sum<Sum::kSub, true>},     {"v_subrev_co_ci_u32", &sum<Sum::kSubRev, true>},
};

}  // namespace

std::span<const ExecEntry> carry_entries() { return kEntries; }

}  // namespace vgpu::valu
