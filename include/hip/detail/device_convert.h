// Bit casts between integers and floats, conversions with the rounding that C already has, and cached loads.
#ifndef BAREHIP_HIP_DETAIL_DEVICE_CONVERT_H
#define BAREHIP_HIP_DETAIL_DEVICE_CONVERT_H

#include <hip/detail/device_sync.h>

BAREHIP_DEVICE_FN int __float_as_int(float value) { return __builtin_bit_cast(int, value); }
BAREHIP_DEVICE_FN unsigned int __float_as_uint(float value) { return __builtin_bit_cast(unsigned int, value); }
BAREHIP_DEVICE_FN float __int_as_float(int value) { return __builtin_bit_cast(float, value); }
BAREHIP_DEVICE_FN float __uint_as_float(unsigned int value) { return __builtin_bit_cast(float, value); }
BAREHIP_DEVICE_FN long long __double_as_longlong(double value) { return __builtin_bit_cast(long long, value); }
BAREHIP_DEVICE_FN double __longlong_as_double(long long value) { return __builtin_bit_cast(double, value); }
BAREHIP_DEVICE_FN int __double2hiint(double value) { return static_cast<int>(__double_as_longlong(value) >> 32); }
BAREHIP_DEVICE_FN int __double2loint(double value) { return static_cast<int>(__double_as_longlong(value)); }
BAREHIP_DEVICE_FN double __hiloint2double(int high, int low) {
  return __longlong_as_double((static_cast<long long>(high) << 32) | static_cast<unsigned int>(low));
}

// Suffixes: rn nearest even, rz toward zero, rd down, ru up.
#define BAREHIP_TO_INTEGER(from, name, to, type)                                                                    \
  BAREHIP_DEVICE_FN type __##name##2##to##_rn(from v) { return static_cast<type>(__builtin_elementwise_rint(v)); }  \
  BAREHIP_DEVICE_FN type __##name##2##to##_rz(from v) { return static_cast<type>(v); }                              \
  BAREHIP_DEVICE_FN type __##name##2##to##_rd(from v) { return static_cast<type>(__builtin_elementwise_floor(v)); } \
  BAREHIP_DEVICE_FN type __##name##2##to##_ru(from v) { return static_cast<type>(__builtin_elementwise_ceil(v)); }
BAREHIP_TO_INTEGER(float, float, int, int)
BAREHIP_TO_INTEGER(float, float, uint, unsigned int)
BAREHIP_TO_INTEGER(float, float, ll, long long)
BAREHIP_TO_INTEGER(float, float, ull, unsigned long long)
BAREHIP_TO_INTEGER(double, double, int, int)
BAREHIP_TO_INTEGER(double, double, uint, unsigned int)
BAREHIP_TO_INTEGER(double, double, ll, long long)
BAREHIP_TO_INTEGER(double, double, ull, unsigned long long)
#undef BAREHIP_TO_INTEGER

BAREHIP_DEVICE_FN float __int2float_rn(int value) { return static_cast<float>(value); }
BAREHIP_DEVICE_FN float __uint2float_rn(unsigned int value) { return static_cast<float>(value); }
BAREHIP_DEVICE_FN float __ll2float_rn(long long value) { return static_cast<float>(value); }
BAREHIP_DEVICE_FN float __ull2float_rn(unsigned long long value) { return static_cast<float>(value); }
BAREHIP_DEVICE_FN double __int2double_rn(int value) { return static_cast<double>(value); }
BAREHIP_DEVICE_FN double __uint2double_rn(unsigned int value) { return static_cast<double>(value); }
BAREHIP_DEVICE_FN double __ll2double_rn(long long value) { return static_cast<double>(value); }
BAREHIP_DEVICE_FN double __ull2double_rn(unsigned long long value) { return static_cast<double>(value); }
BAREHIP_DEVICE_FN float __double2float_rn(double value) { return static_cast<float>(value); }

template <typename T>
BAREHIP_DEVICE_FN T __ldg(const T* pointer) {
  return *pointer;
}

#endif
