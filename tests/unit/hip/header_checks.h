// Static assertions that the C and the C++ test of the headers share.
#define HIP_VALUE(constant, value) _Static_assert((long long)(constant) == (value), #constant);
#include "header_values.inc"
#undef HIP_VALUE

#define HIP_SIZE(type, bytes, alignment)          \
  _Static_assert(sizeof(type) == (bytes), #type); \
  _Static_assert(_Alignof(type) == (alignment), #type);
#define HIP_MEMBER(type, member, at, bytes)                          \
  _Static_assert(offsetof(type, member) == (at), #type "." #member); \
  _Static_assert(sizeof(((type*)0)->member) == (bytes), #type "." #member);
#include "header_layouts.inc"
#undef HIP_SIZE
#undef HIP_MEMBER
