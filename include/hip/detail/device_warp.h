// Operations between the lanes of a wave: votes, ballots and shuffles. Lanes that are not active take no part.
#ifndef BAREHIP_HIP_DETAIL_DEVICE_WARP_H
#define BAREHIP_HIP_DETAIL_DEVICE_WARP_H

#include <hip/detail/device_coordinates.h>
#include <hip/detail/device_integer.h>

#define BAREHIP_WAVE_FN static __attribute__((device)) inline __attribute__((unused, convergent))

/// This lane's number in its wave.
BAREHIP_DEVICE_FN unsigned int __lane_id() {
#if !defined(__HIP_DEVICE_COMPILE__) || __AMDGCN_WAVEFRONT_SIZE == 64
  return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0u));
#else
  return __builtin_amdgcn_mbcnt_lo(~0u, 0u);
#endif
}

BAREHIP_WAVE_FN unsigned long long __ballot64(int predicate) {
#if !defined(__HIP_DEVICE_COMPILE__) || __AMDGCN_WAVEFRONT_SIZE == 64
  return __builtin_amdgcn_ballot_w64(predicate != 0);
#else
  return __builtin_amdgcn_ballot_w32(predicate != 0);
#endif
}
BAREHIP_WAVE_FN int __hip_ds_bpermute(int byte_index, int source) {
  return __builtin_amdgcn_ds_bpermute(byte_index, source);
}
BAREHIP_WAVE_FN int __hip_ds_permute(int byte_index, int source) {
  return __builtin_amdgcn_ds_permute(byte_index, source);
}

BAREHIP_WAVE_FN unsigned long long __ballot(int predicate) { return __ballot64(predicate); }
BAREHIP_WAVE_FN unsigned long long __activemask() { return __ballot64(1); }
BAREHIP_WAVE_FN int __any(int predicate) { return __ballot64(predicate) != 0; }
BAREHIP_WAVE_FN int __all(int predicate) { return __ballot64(!predicate) == 0; }

BAREHIP_DEVICE_FN unsigned long long __lanemask_lt() { return (1ull << __lane_id()) - 1; }
BAREHIP_DEVICE_FN unsigned long long __lanemask_eq() { return 1ull << __lane_id(); }
BAREHIP_DEVICE_FN unsigned long long __lanemask_gt() {
  return (warpSize == 64 ? ~0ull : 0xffffffffull) & ~(__lanemask_lt() | __lanemask_eq());
}

namespace barehip_hip_detail {

/// A value of 1 to 16 bytes from another lane, dword by dword.
template <typename T>
BAREHIP_WAVE_FN T from_lane(T value, int lane) {
  static_assert(__is_trivially_copyable(T), "a value that can be moved as bytes");
  int words[(sizeof(T) + 3) / 4] = {};
  __builtin_memcpy(words, &value, sizeof(T));
  for (unsigned int i = 0; i < sizeof(words) / sizeof(int); ++i) words[i] = __hip_ds_bpermute(lane << 2, words[i]);
  __builtin_memcpy(&value, words, sizeof(T));
  return value;
}

}  // namespace barehip_hip_detail

// `width` (a power of two up to the wave size) cuts the wave into segments; a lane outside its own segment is not read,
// the value stays this lane's.
template <typename T>
BAREHIP_WAVE_FN T __shfl(T value, int source_lane, int width = warpSize) {
  const int self = static_cast<int>(__lane_id());
  return barehip_hip_detail::from_lane(value, (source_lane & (width - 1)) + (self & ~(width - 1)));
}
template <typename T>
BAREHIP_WAVE_FN T __shfl_up(T value, unsigned int delta, int width = warpSize) {
  const int self = static_cast<int>(__lane_id());
  const int lane = self - static_cast<int>(delta);
  return barehip_hip_detail::from_lane(value, lane < (self & ~(width - 1)) ? self : lane);
}
template <typename T>
BAREHIP_WAVE_FN T __shfl_down(T value, unsigned int delta, int width = warpSize) {
  const int self = static_cast<int>(__lane_id());
  const int lane = (self & (width - 1)) + static_cast<int>(delta);
  return barehip_hip_detail::from_lane(value, lane >= width ? self : self + static_cast<int>(delta));
}
template <typename T>
BAREHIP_WAVE_FN T __shfl_xor(T value, int lane_mask, int width = warpSize) {
  const int self = static_cast<int>(__lane_id());
  const int lane = self ^ lane_mask;
  return barehip_hip_detail::from_lane(value, lane >= ((self + width) & ~(width - 1)) ? self : lane);
}

// The group-wide votes of a barrier: one counter in LDS, guarded by barriers on both sides.
namespace barehip_hip_detail {
BAREHIP_WAVE_FN int group_count(int predicate) {
  static __shared__ int count;
  __syncthreads();
  if (__builtin_amdgcn_workitem_id_x() + __builtin_amdgcn_workitem_id_y() + __builtin_amdgcn_workitem_id_z() == 0)
    count = 0;
  __syncthreads();
  if (predicate) __hip_atomic_fetch_add(&count, 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
  __syncthreads();
  const int total = count;
  __syncthreads();
  return total;
}
}  // namespace barehip_hip_detail
BAREHIP_WAVE_FN int __syncthreads_count(int predicate) { return barehip_hip_detail::group_count(predicate); }
BAREHIP_WAVE_FN int __syncthreads_or(int predicate) { return barehip_hip_detail::group_count(predicate) != 0; }
BAREHIP_WAVE_FN int __syncthreads_and(int predicate) { return barehip_hip_detail::group_count(!predicate) == 0; }

#if defined(HIP_ENABLE_WARP_SYNC_BUILTINS)
// Waves run in step here, so the mask only says who takes part.
template <typename M>
BAREHIP_WAVE_FN unsigned long long __ballot_sync(M mask, int predicate) {
  return __ballot64(predicate) & mask;
}
template <typename M>
BAREHIP_WAVE_FN int __any_sync(M mask, int predicate) {
  return (__ballot64(predicate) & mask) != 0;
}
template <typename M>
BAREHIP_WAVE_FN int __all_sync(M mask, int predicate) {
  return (__ballot64(predicate) & mask) == mask;
}
template <typename M, typename T>
BAREHIP_WAVE_FN T __shfl_sync(M, T value, int source_lane, int width = warpSize) {
  return __shfl(value, source_lane, width);
}
template <typename M, typename T>
BAREHIP_WAVE_FN T __shfl_up_sync(M, T value, unsigned int delta, int width = warpSize) {
  return __shfl_up(value, delta, width);
}
template <typename M, typename T>
BAREHIP_WAVE_FN T __shfl_down_sync(M, T value, unsigned int delta, int width = warpSize) {
  return __shfl_down(value, delta, width);
}
template <typename M, typename T>
BAREHIP_WAVE_FN T __shfl_xor_sync(M, T value, int lane_mask, int width = warpSize) {
  return __shfl_xor(value, lane_mask, width);
}
#endif

#endif
