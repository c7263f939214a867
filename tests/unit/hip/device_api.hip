// Compiled, not run: every device function of the headers, so that each is valid for each target at each level.
#define HIP_ENABLE_WARP_SYNC_BUILTINS
#include <hip/channel_descriptor.h>
#include <hip/hip_ext.h>
#include <hip/hip_runtime.h>

#include <cmath>
#include <complex>

__constant__ int constant_value = 3;
__device__ float device_value;

__global__ void __launch_bounds__(256) coordinates(unsigned* out, dim3* dims) {
  out[0] = threadIdx.x + threadIdx.y * blockDim.x + threadIdx.z * blockDim.x * blockDim.y;
  out[1] = blockIdx.x + blockIdx.y * gridDim.x + blockIdx.z * gridDim.x * gridDim.y + blockDim.z + gridDim.z;
  dims[0] = threadIdx;
  dims[1] = blockIdx;
  dims[2] = blockDim;
  dims[3] = gridDim;
  static_assert(warpSize == 32 || warpSize == 64, "wave size");
  out[2] = static_cast<unsigned>(warpSize);
}

template <typename T>
__device__ void integer_atomics(T* p) {
  T old = atomicAdd(p, T(1));
  old += atomicSub(p, T(2)) + atomicExch(p, T(3)) + atomicMin(p, T(4)) + atomicMax(p, T(5)) + atomicAnd(p, T(6)) +
         atomicOr(p, T(7)) + atomicXor(p, T(8)) + atomicCAS(p, T(9), T(10));
  old += atomicAdd_system(p, T(1)) + atomicCAS_system(p, T(1), T(2)) + atomicExch_system(p, T(1));
  *p = old;
}

template <typename T>
__device__ void float_atomics(T* p) {
  T old = atomicAdd(p, T(1)) + atomicSub(p, T(1)) + atomicMin(p, T(2)) + atomicMax(p, T(3)) + atomicExch(p, T(4)) +
          unsafeAtomicAdd(p, T(5)) + safeAtomicAdd(p, T(6)) + atomicCAS(p, T(1), T(2));
  *p = old;
}

__global__ void atomics(int* i, unsigned* u, unsigned long long* ull, float* f, double* d) {
  integer_atomics(i);
  integer_atomics(u);
  integer_atomics(ull);
  float_atomics(f);
  float_atomics(d);
  atomicInc(u, 5u);
  atomicDec(u, 5u);
  atomicAddNoRet(f, 1.0f);
}

template <typename T>
__device__ T shuffles(T value) {
  return static_cast<T>(__shfl(value, 1) + __shfl_up(value, 1) + __shfl_down(value, 1) + __shfl_xor(value, 1) +
                        __shfl(value, 1, 16) + __shfl_sync(~0ull, value, 1) + __shfl_down_sync(~0ull, value, 1));
}

__global__ void warp(int* i, long long* l, float* f, double* d, short* s, float4* v) {
  *i = shuffles(*i) + __any(*i) + __all(*i) + __popcll(__ballot(*i)) + static_cast<int>(__lane_id()) +
       __any_sync(~0ull, *i);
  *l = shuffles(*l) + static_cast<long long>(__activemask() ^ __lanemask_lt() ^ __lanemask_gt() ^ __lanemask_eq());
  *f = shuffles(*f);
  *d = shuffles(*d);
  *s = shuffles(*s);
  *v = __shfl(*v, 3);
  *i += __syncthreads_count(*i) + __syncthreads_and(*i) + __syncthreads_or(*i);
}

__global__ void integers(unsigned* u, unsigned long long* ull, int* i) {
  *u = __popc(*u) + __brev(*u) + __umulhi(*u, 3u) + __umul24(*u, 5u) + __byte_perm(u[0], u[1], u[2]) +
       __funnelshift_l(u[0], u[1], u[2]) + __funnelshift_rc(u[0], u[1], u[2]) + __bitextract_u32(*u, 3, 5) +
       __bitinsert_u32(u[0], u[1], 3, 5) + __uhadd(u[0], u[1]) + __urhadd(u[0], u[1]) + __usad(u[0], u[1], u[2]);
  *ull = __popcll(*ull) + __brevll(*ull) + __umul64hi(*ull, 7) + __bitextract_u64(*ull, 3, 50) +
         __bitinsert_u64(*ull, 1, 2, 3);
  *i = __clz(*i) + __clzll(*ull) + __ffs(*i) + __ffsll(*ull) + __mulhi(*i, 3) + __mul24(*i, 3) + __hadd(i[0], i[1]) +
       __rhadd(i[0], i[1]) + static_cast<int>(__sad(i[0], i[1], 2)) + __lastbit_u32_u64(*ull) + min(i[0], i[1]) +
       max(i[0], i[1]);
}

__global__ void converts(float* f, double* d, int* i, long long* l) {
  *i = __float_as_int(*f) + __float2int_rn(*f) + __float2int_rz(*f) + __float2int_rd(*f) + __float2int_ru(*f) +
       __double2int_rn(*d) + __double2hiint(*d) + __double2loint(*d);
  *f = __int_as_float(*i) + __int2float_rn(*i) + __double2float_rn(*d) + __ldg(f + 1);
  *d = __longlong_as_double(*l) + __hiloint2double(1, 2) + __ll2double_rn(*l);
  *l = __double_as_longlong(*d) + __double2ll_rz(*d);
}

// What needs no device library.
__global__ void math(float* f, double* d) {
  *f = sqrtf(*f) + fabsf(*f) + floorf(*f) + ceilf(*f) + truncf(*f) + rintf(*f) + fmaf(f[0], f[1], f[2]) +
       fminf(f[0], f[1]) + fmaxf(f[0], f[1]) + copysignf(f[0], f[1]) + std::abs(*f) + std::fmax(f[0], f[1]);
  *d = sqrt(*d) + fabs(*d) + floor(*d) + fma(d[0], d[1], d[2]) + fmin(d[0], d[1]);
}

__global__ void rest(float4* v, int* i, long long* clocks) {
  extern __shared__ int dynamic[];
  dynamic[threadIdx.x] = *i + constant_value;
  __syncthreads();
  __threadfence_block();
  __threadfence();
  __threadfence_system();
  *v = *v * 2.0f + make_float4(1, 2, 3, 4) - float4(dynamic[0]);
  device_value = v->x;
  clocks[0] = clock64() + __clock64();
  if (*i == 77) abort();
}

void host(hipStream_t stream) {
  hipLaunchKernelGGL(rest, dim3(1), dim3(64), 0, stream, nullptr, nullptr, nullptr);
  hipExtLaunchKernelGGL(math, dim3(1), dim3(64), 0, stream, nullptr, nullptr, 0, (float*)nullptr, (double*)nullptr);
  float value = 0;
  (void)hipMemcpyToSymbol(device_value, &value, sizeof value);
  (void)hipFuncSetAttribute(rest, hipFuncAttributeMaxDynamicSharedMemorySize, 1024);
  (void)hipCreateChannelDesc<float4>();
}
