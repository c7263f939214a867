// char1 .. double4 with their make_ functions. In C++ they are HIP_vector_type<T, n>: the whole vector's alignment (a
// kernel argument has that one), element-wise operators and mixes with scalars. In C they are plain structures with the
// element's alignment. Three elements always have the element's alignment.
#ifndef BAREHIP_HIP_HIP_VECTOR_TYPES_H
#define BAREHIP_HIP_HIP_VECTOR_TYPES_H

#include <hip/detail/host_defines.h>

#ifdef __cplusplus

template <typename T, unsigned n>
struct HIP_vector_base;

template <typename T>
struct alignas(sizeof(T)) HIP_vector_base<T, 1> {
  T x;
};
template <typename T>
struct alignas(2 * sizeof(T)) HIP_vector_base<T, 2> {
  T x, y;
};
template <typename T>
struct HIP_vector_base<T, 3> {
  T x, y, z;
};
template <typename T>
struct alignas(4 * sizeof(T)) HIP_vector_base<T, 4> {
  T x, y, z, w;
};

template <typename T, unsigned n>
struct HIP_vector_type : HIP_vector_base<T, n> {
  using value_type = T;

  HIP_vector_type() = default;
  /// One value for every element.
  HIP_HOST_DEVICE explicit HIP_vector_type(T value) {
    for (unsigned i = 0; i < n; ++i) (*this)[i] = value;
  }
  template <typename... Rest>
  HIP_HOST_DEVICE HIP_vector_type(T first, T second, Rest... rest) {
    static_assert(sizeof...(Rest) + 2 == n, "one value for each element");
    const T values[] = {first, second, static_cast<T>(rest)...};
    for (unsigned i = 0; i < n; ++i) (*this)[i] = values[i];
  }
  HIP_HOST_DEVICE T& operator[](unsigned i) { return reinterpret_cast<T*>(this)[i]; }
  HIP_HOST_DEVICE const T& operator[](unsigned i) const { return reinterpret_cast<const T*>(this)[i]; }

#define BAREHIP_VECTOR_ASSIGN(op)                                               \
  HIP_HOST_DEVICE HIP_vector_type& operator op(const HIP_vector_type & other) { \
    for (unsigned i = 0; i < n; ++i) (*this)[i] op other[i];                    \
    return *this;                                                               \
  }                                                                             \
  HIP_HOST_DEVICE HIP_vector_type& operator op(T scalar) {                      \
    for (unsigned i = 0; i < n; ++i) (*this)[i] op scalar;                      \
    return *this;                                                               \
  }
  BAREHIP_VECTOR_ASSIGN(+=)
  BAREHIP_VECTOR_ASSIGN(-=)
  BAREHIP_VECTOR_ASSIGN(*=)
  BAREHIP_VECTOR_ASSIGN(/=)
  BAREHIP_VECTOR_ASSIGN(%=)
  BAREHIP_VECTOR_ASSIGN(&=)
  BAREHIP_VECTOR_ASSIGN(|=)
  BAREHIP_VECTOR_ASSIGN(^=)
  BAREHIP_VECTOR_ASSIGN(<<=)
  BAREHIP_VECTOR_ASSIGN(>>=)
#undef BAREHIP_VECTOR_ASSIGN

  HIP_HOST_DEVICE HIP_vector_type& operator++() { return *this += static_cast<T>(1); }
  HIP_HOST_DEVICE HIP_vector_type& operator--() { return *this -= static_cast<T>(1); }
  HIP_HOST_DEVICE HIP_vector_type operator++(int) {
    HIP_vector_type before = *this;
    ++*this;
    return before;
  }
  HIP_HOST_DEVICE HIP_vector_type operator--(int) {
    HIP_vector_type before = *this;
    --*this;
    return before;
  }
  HIP_HOST_DEVICE HIP_vector_type operator-() const {
    HIP_vector_type result = *this;
    for (unsigned i = 0; i < n; ++i) result[i] = static_cast<T>(-result[i]);
    return result;
  }
  HIP_HOST_DEVICE HIP_vector_type operator~() const {
    HIP_vector_type result = *this;
    for (unsigned i = 0; i < n; ++i) result[i] = static_cast<T>(~result[i]);
    return result;
  }
};

namespace barehip_hip_detail {
template <typename T>
struct identity {
  using type = T;
};
template <typename T>
using scalar_of = typename identity<T>::type;  // keeps a scalar out of template deduction: float4 * 2 works
}  // namespace barehip_hip_detail

#define BAREHIP_VECTOR_BINARY(op, assign)                                                                             \
  template <typename T, unsigned n>                                                                                   \
  HIP_HOST_DEVICE inline HIP_vector_type<T, n> operator op(HIP_vector_type<T, n> a, const HIP_vector_type<T, n>& b) { \
    a assign b;                                                                                                       \
    return a;                                                                                                         \
  }                                                                                                                   \
  template <typename T, unsigned n>                                                                                   \
  HIP_HOST_DEVICE inline HIP_vector_type<T, n> operator op(HIP_vector_type<T, n> a,                                   \
                                                           barehip_hip_detail::scalar_of<T> scalar) {                 \
    a assign scalar;                                                                                                  \
    return a;                                                                                                         \
  }                                                                                                                   \
  template <typename T, unsigned n>                                                                                   \
  HIP_HOST_DEVICE inline HIP_vector_type<T, n> operator op(barehip_hip_detail::scalar_of<T> scalar,                   \
                                                           const HIP_vector_type<T, n>& b) {                          \
    HIP_vector_type<T, n> a;                                                                                          \
    for (unsigned i = 0; i < n; ++i) a[i] = scalar;                                                                   \
    a assign b;                                                                                                       \
    return a;                                                                                                         \
  }
BAREHIP_VECTOR_BINARY(+, +=)
BAREHIP_VECTOR_BINARY(-, -=)
BAREHIP_VECTOR_BINARY(*, *=)
BAREHIP_VECTOR_BINARY(/, /=)
BAREHIP_VECTOR_BINARY(%, %=)
BAREHIP_VECTOR_BINARY(&, &=)
BAREHIP_VECTOR_BINARY(|, |=)
BAREHIP_VECTOR_BINARY(^, ^=)
BAREHIP_VECTOR_BINARY(<<, <<=)
BAREHIP_VECTOR_BINARY(>>, >>=)
#undef BAREHIP_VECTOR_BINARY

template <typename T, unsigned n>
HIP_HOST_DEVICE inline bool operator==(const HIP_vector_type<T, n>& a, const HIP_vector_type<T, n>& b) {
  for (unsigned i = 0; i < n; ++i)
    if (!(a[i] == b[i])) return false;
  return true;
}
template <typename T, unsigned n>
HIP_HOST_DEVICE inline bool operator!=(const HIP_vector_type<T, n>& a, const HIP_vector_type<T, n>& b) {
  return !(a == b);
}

#define BAREHIP_DECLARE_VECTOR(prefix, T)   \
  typedef HIP_vector_type<T, 1u> prefix##1; \
  typedef HIP_vector_type<T, 2u> prefix##2; \
  typedef HIP_vector_type<T, 3u> prefix##3; \
  typedef HIP_vector_type<T, 4u> prefix##4;
#define BAREHIP_INLINE static inline HIP_HOST_DEVICE

#else

#define BAREHIP_DECLARE_VECTOR(prefix, T) \
  typedef struct {                        \
    T x;                                  \
  } prefix##1;                            \
  typedef struct {                        \
    T x, y;                               \
  } prefix##2;                            \
  typedef struct {                        \
    T x, y, z;                            \
  } prefix##3;                            \
  typedef struct {                        \
    T x, y, z, w;                         \
  } prefix##4;
#define BAREHIP_INLINE static inline

#endif

#define BAREHIP_MAKE_VECTOR(prefix, T)                            \
  BAREHIP_INLINE prefix##1 make_##prefix##1(T x) {                \
    prefix##1 result;                                             \
    result.x = x;                                                 \
    return result;                                                \
  }                                                               \
  BAREHIP_INLINE prefix##2 make_##prefix##2(T x, T y) {           \
    prefix##2 result;                                             \
    result.x = x;                                                 \
    result.y = y;                                                 \
    return result;                                                \
  }                                                               \
  BAREHIP_INLINE prefix##3 make_##prefix##3(T x, T y, T z) {      \
    prefix##3 result;                                             \
    result.x = x;                                                 \
    result.y = y;                                                 \
    result.z = z;                                                 \
    return result;                                                \
  }                                                               \
  BAREHIP_INLINE prefix##4 make_##prefix##4(T x, T y, T z, T w) { \
    prefix##4 result;                                             \
    result.x = x;                                                 \
    result.y = y;                                                 \
    result.z = z;                                                 \
    result.w = w;                                                 \
    return result;                                                \
  }

#define BAREHIP_VECTOR(prefix, T)   \
  BAREHIP_DECLARE_VECTOR(prefix, T) \
  BAREHIP_MAKE_VECTOR(prefix, T)

BAREHIP_VECTOR(char, char)
BAREHIP_VECTOR(uchar, unsigned char)
BAREHIP_VECTOR(short, short)
BAREHIP_VECTOR(ushort, unsigned short)
BAREHIP_VECTOR(int, int)
BAREHIP_VECTOR(uint, unsigned int)
BAREHIP_VECTOR(long, long)
BAREHIP_VECTOR(ulong, unsigned long)
BAREHIP_VECTOR(longlong, long long)
BAREHIP_VECTOR(ulonglong, unsigned long long)
BAREHIP_VECTOR(float, float)
BAREHIP_VECTOR(double, double)

#undef BAREHIP_VECTOR
#undef BAREHIP_MAKE_VECTOR
#undef BAREHIP_DECLARE_VECTOR
#undef BAREHIP_INLINE

#endif
