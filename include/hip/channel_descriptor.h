// Channel formats of arrays and textures; hipCreateChannelDesc<T>() names the one of a type.
#ifndef BAREHIP_HIP_CHANNEL_DESCRIPTOR_H
#define BAREHIP_HIP_CHANNEL_DESCRIPTOR_H

#include <hip/hip_runtime_api.h>

#ifdef __cplusplus

namespace barehip_hip_detail {
template <class T>
struct channel {
  using element = T;
  static constexpr unsigned count = 1;
};
template <class T, unsigned n>
struct channel<HIP_vector_type<T, n>> {
  using element = T;
  static constexpr unsigned count = n;
};
template <class T>
constexpr hipChannelFormatKind channel_kind() {
  return T(0.5) != T(0) ? hipChannelFormatKindFloat
         : T(-1) < T(0) ? hipChannelFormatKindSigned
                        : hipChannelFormatKindUnsigned;
}
}  // namespace barehip_hip_detail

template <class T>
static inline hipChannelFormatDesc hipCreateChannelDesc() {
  using Channel = barehip_hip_detail::channel<T>;
  const int bits = 8 * sizeof(typename Channel::element);
  return hipCreateChannelDesc(bits, Channel::count > 1 ? bits : 0, Channel::count > 2 ? bits : 0,
                              Channel::count > 3 ? bits : 0,
                              barehip_hip_detail::channel_kind<typename Channel::element>());
}

#endif

#endif
