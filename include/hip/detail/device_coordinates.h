// threadIdx, blockIdx, blockDim, gridDim and warpSize. Each .x is an unsigned int read from the hardware or from the
// kernel's hidden arguments; the objects themselves occupy nothing.
#ifndef BAREHIP_HIP_DETAIL_DEVICE_COORDINATES_H
#define BAREHIP_HIP_DETAIL_DEVICE_COORDINATES_H

#include <hip/detail/handles.h>

namespace barehip_hip_detail {

#define BAREHIP_GET static __attribute__((device)) inline __attribute__((always_inline)) unsigned int

// Groups of the grid. Code objects from version 5 on pass the number in their hidden arguments (offset 0, 4, 8);
// before, it follows from the dispatch packet. barehip-cc says which version is being compiled.
#if defined(__BAREHIP_CODE_OBJECT_VERSION__) && __BAREHIP_CODE_OBJECT_VERSION__ >= 5
#define BAREHIP_GRID_DIM(axis, index) \
  ((const __attribute__((address_space(4))) unsigned int*)__builtin_amdgcn_implicitarg_ptr())[index]
#else
#define BAREHIP_GRID_DIM(axis, index) \
  ((__builtin_amdgcn_grid_size_##axis() - 1) / __builtin_amdgcn_workgroup_size_##axis() + 1)
#endif
#define BAREHIP_COORDINATE(name, x_, y_, z_) \
  struct name {                              \
    BAREHIP_GET get_x() { return x_; }       \
    BAREHIP_GET get_y() { return y_; }       \
    BAREHIP_GET get_z() { return z_; }       \
    BAREHIP_COORDINATE_MEMBERS               \
  };

#define BAREHIP_COORDINATE_MEMBERS                                                      \
  __declspec(property(get = get_x)) unsigned int x;                                     \
  __declspec(property(get = get_y)) unsigned int y;                                     \
  __declspec(property(get = get_z)) unsigned int z;                                     \
  __attribute__((device)) inline __attribute__((always_inline)) operator dim3() const { \
    return dim3(get_x(), get_y(), get_z());                                             \
  }

BAREHIP_COORDINATE(ThreadIdx, __builtin_amdgcn_workitem_id_x(), __builtin_amdgcn_workitem_id_y(),
                   __builtin_amdgcn_workitem_id_z())
BAREHIP_COORDINATE(BlockIdx, __builtin_amdgcn_workgroup_id_x(), __builtin_amdgcn_workgroup_id_y(),
                   __builtin_amdgcn_workgroup_id_z())
BAREHIP_COORDINATE(BlockDim, __builtin_amdgcn_workgroup_size_x(), __builtin_amdgcn_workgroup_size_y(),
                   __builtin_amdgcn_workgroup_size_z())
BAREHIP_COORDINATE(GridDim, BAREHIP_GRID_DIM(x, 0), BAREHIP_GRID_DIM(y, 1), BAREHIP_GRID_DIM(z, 2))

#undef BAREHIP_COORDINATE
#undef BAREHIP_COORDINATE_MEMBERS
#undef BAREHIP_GRID_DIM
#undef BAREHIP_GET

}  // namespace barehip_hip_detail

extern const __attribute__((device)) __attribute__((weak)) barehip_hip_detail::ThreadIdx threadIdx;
extern const __attribute__((device)) __attribute__((weak)) barehip_hip_detail::BlockIdx blockIdx;
extern const __attribute__((device)) __attribute__((weak)) barehip_hip_detail::BlockDim blockDim;
extern const __attribute__((device)) __attribute__((weak)) barehip_hip_detail::GridDim gridDim;

#if defined(__HIP_DEVICE_COMPILE__)
constexpr int warpSize = __AMDGCN_WAVEFRONT_SIZE;
#else
constexpr int warpSize = 64;  // what host code may assume as the greatest; ask hipDeviceProp_t for a device's own
#endif

#endif
