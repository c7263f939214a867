// Integer and bit intrinsics, on compiler builtins alone.
#ifndef BAREHIP_HIP_DETAIL_DEVICE_INTEGER_H
#define BAREHIP_HIP_DETAIL_DEVICE_INTEGER_H

#include <hip/detail/device_sync.h>

BAREHIP_DEVICE_FN unsigned int __popc(unsigned int value) { return __builtin_popcount(value); }
BAREHIP_DEVICE_FN unsigned int __popcll(unsigned long long value) { return __builtin_popcountll(value); }
BAREHIP_DEVICE_FN int __clz(int value) { return value ? __builtin_clz(static_cast<unsigned>(value)) : 32; }
BAREHIP_DEVICE_FN int __clzll(long long value) {
  return value ? __builtin_clzll(static_cast<unsigned long long>(value)) : 64;
}
BAREHIP_DEVICE_FN int __ffs(int value) { return __builtin_ffs(value); }
BAREHIP_DEVICE_FN int __ffs(unsigned int value) { return __builtin_ffs(static_cast<int>(value)); }
BAREHIP_DEVICE_FN int __ffsll(long long value) { return __builtin_ffsll(value); }
BAREHIP_DEVICE_FN int __ffsll(unsigned long long value) { return __builtin_ffsll(static_cast<long long>(value)); }
BAREHIP_DEVICE_FN int __ffsll(unsigned long value) { return __builtin_ffsll(static_cast<long long>(value)); }
BAREHIP_DEVICE_FN unsigned int __brev(unsigned int value) { return __builtin_bitreverse32(value); }
BAREHIP_DEVICE_FN unsigned long long __brevll(unsigned long long value) { return __builtin_bitreverse64(value); }

/// Index of the lowest set bit, -1 when there is none.
BAREHIP_DEVICE_FN int __lastbit_u32_u64(unsigned long long value) { return value ? __builtin_ctzll(value) : -1; }

BAREHIP_DEVICE_FN unsigned int __bitextract_u32(unsigned int source, unsigned int offset, unsigned int width) {
  offset &= 31;
  width &= 31;
  return width ? (source << (offset + width > 32 ? 0 : 32 - offset - width)) >> (32 - width) : 0;
}
BAREHIP_DEVICE_FN unsigned long long __bitextract_u64(unsigned long long source, unsigned int offset,
                                                      unsigned int width) {
  offset &= 63;
  width &= 63;
  return width ? (source >> offset) & (~0ull >> (64 - width)) : 0;
}
BAREHIP_DEVICE_FN unsigned int __bitinsert_u32(unsigned int destination, unsigned int source, unsigned int offset,
                                               unsigned int width) {
  offset &= 31;
  const unsigned int mask = (1u << (width & 31)) - 1;
  return (destination & ~(mask << offset)) | ((source & mask) << offset);
}
BAREHIP_DEVICE_FN unsigned long long __bitinsert_u64(unsigned long long destination, unsigned long long source,
                                                     unsigned int offset, unsigned int width) {
  offset &= 63;
  const unsigned long long mask = (1ull << (width & 63)) - 1;
  return (destination & ~(mask << offset)) | ((source & mask) << offset);
}

/// Shifts of the 64-bit value high:low, of which one half remains. The plain forms take the shift modulo 32, the
/// c forms saturate it at 32.
BAREHIP_DEVICE_FN unsigned int __funnelshift_l(unsigned int low, unsigned int high, unsigned int shift) {
  shift &= 31;
  return shift ? (high << shift) | (low >> (32 - shift)) : high;
}
BAREHIP_DEVICE_FN unsigned int __funnelshift_lc(unsigned int low, unsigned int high, unsigned int shift) {
  return shift >= 32 ? low : __funnelshift_l(low, high, shift);
}
BAREHIP_DEVICE_FN unsigned int __funnelshift_r(unsigned int low, unsigned int high, unsigned int shift) {
  shift &= 31;
  return shift ? (low >> shift) | (high << (32 - shift)) : low;
}
BAREHIP_DEVICE_FN unsigned int __funnelshift_rc(unsigned int low, unsigned int high, unsigned int shift) {
  return shift >= 32 ? high : __funnelshift_r(low, high, shift);
}

/// Each nibble of `select` picks a byte of y:x.
BAREHIP_DEVICE_FN unsigned int __byte_perm(unsigned int x, unsigned int y, unsigned int select) {
  const unsigned long long bytes = (static_cast<unsigned long long>(y) << 32) | x;
  unsigned int result = 0;
  for (unsigned int i = 0; i < 4; ++i)
    result |= static_cast<unsigned int>((bytes >> (8 * ((select >> (4 * i)) & 7))) & 0xff) << (8 * i);
  return result;
}

BAREHIP_DEVICE_FN int __mul24(int x, int y) { return ((x << 8) >> 8) * ((y << 8) >> 8); }
BAREHIP_DEVICE_FN unsigned int __umul24(unsigned int x, unsigned int y) { return (x & 0xffffff) * (y & 0xffffff); }
BAREHIP_DEVICE_FN int __mulhi(int x, int y) { return static_cast<int>((static_cast<long long>(x) * y) >> 32); }
BAREHIP_DEVICE_FN unsigned int __umulhi(unsigned int x, unsigned int y) {
  return static_cast<unsigned int>((static_cast<unsigned long long>(x) * y) >> 32);
}
BAREHIP_DEVICE_FN unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
  return static_cast<unsigned long long>((static_cast<unsigned __int128>(x) * y) >> 64);
}
BAREHIP_DEVICE_FN long long __mul64hi(long long x, long long y) {
  return static_cast<long long>((static_cast<__int128>(x) * y) >> 64);
}
BAREHIP_DEVICE_FN int __hadd(int x, int y) { return static_cast<int>((static_cast<long long>(x) + y) >> 1); }
BAREHIP_DEVICE_FN int __rhadd(int x, int y) { return static_cast<int>((static_cast<long long>(x) + y + 1) >> 1); }
BAREHIP_DEVICE_FN unsigned int __uhadd(unsigned int x, unsigned int y) {
  return static_cast<unsigned int>((static_cast<unsigned long long>(x) + y) >> 1);
}
BAREHIP_DEVICE_FN unsigned int __urhadd(unsigned int x, unsigned int y) {
  return static_cast<unsigned int>((static_cast<unsigned long long>(x) + y + 1) >> 1);
}
BAREHIP_DEVICE_FN unsigned int __sad(int x, int y, unsigned int sum) {
  return sum + static_cast<unsigned int>(x > y ? static_cast<long long>(x) - y : static_cast<long long>(y) - x);
}
BAREHIP_DEVICE_FN unsigned int __usad(unsigned int x, unsigned int y, unsigned int sum) {
  return sum + (x > y ? x - y : y - x);
}

#endif
