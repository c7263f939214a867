// Programs that the shader tests run. No header: compiled with -nogpuinc -nogpulib.
#define __device__ __attribute__((device))
#define __global__ extern "C" __attribute__((global))
#define __shared__ __attribute__((shared))
#define NOINLINE __attribute__((noinline))

typedef unsigned u32;
typedef unsigned long u64;

__device__ inline u32 tid_x() { return __builtin_amdgcn_workitem_id_x(); }
__device__ inline u32 tid_y() { return __builtin_amdgcn_workitem_id_y(); }
__device__ inline u32 tid_z() { return __builtin_amdgcn_workitem_id_z(); }
__device__ inline u32 bid_x() { return __builtin_amdgcn_workgroup_id_x(); }
__device__ inline u32 bid_y() { return __builtin_amdgcn_workgroup_id_y(); }
__device__ inline u32 bid_z() { return __builtin_amdgcn_workgroup_id_z(); }

__device__ inline void sync() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

__global__ void vadd(float* out, const float* a, const float* b, u32 n, u32 block) {
  u32 i = bid_x() * block + tid_x();
  if (i < n) out[i] = a[i] + b[i];
}

__global__ void where(u32* out, u32 sx, u32 sy, u32 gx, u32 gy, u32 gz) {
  u32 x = bid_x() * gx + tid_x(), y = bid_y() * gy + tid_y(), z = bid_z() * gz + tid_z();
  out[x + sx * (y + sy * z)] = tid_x() | tid_y() << 8 | tid_z() << 16 | bid_x() << 20 | bid_y() << 24 | bid_z() << 28;
}

__global__ void transpose(float* out, const float* in, u32 width, u32 height) {
  __shared__ float tile[16][17];
  u32 x = bid_x() * 16 + tid_x(), y = bid_y() * 16 + tid_y();
  if (x < width && y < height) tile[tid_y()][tid_x()] = in[y * width + x];
  sync();
  u32 ox = bid_y() * 16 + tid_x(), oy = bid_x() * 16 + tid_y();
  if (ox < height && oy < width) out[oy * height + ox] = tile[tid_x()][tid_y()];
}

__device__ inline u32 shuffle(u32 value, u32 lane) { return __builtin_amdgcn_ds_bpermute(lane * 4, value); }

__global__ void reduce(u32* total, const u32* in, u32 n, u32 block, u32 wave) {
  __shared__ u32 partial[32];
  u32 i = bid_x() * block + tid_x();
  u32 value = i < n ? in[i] : 0;
  u32 lane = tid_x() & (wave - 1);
  for (u32 step = wave / 2; step != 0; step /= 2) value += shuffle(value, lane ^ step);
  if (lane == 0) partial[tid_x() / wave] = value;
  sync();
  if (tid_x() == 0) {
    u32 sum = 0;
    for (u32 k = 0; k < block / wave; ++k) sum += partial[k];
    __hip_atomic_fetch_add(total, sum, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  }
}

__global__ void row_sums(u32* out) {
  u32 value = tid_x() + 1;
  value += __builtin_amdgcn_update_dpp(0, value, 0x111, 0xf, 0xf, true);
  value += __builtin_amdgcn_update_dpp(0, value, 0x112, 0xf, 0xf, true);
  value += __builtin_amdgcn_update_dpp(0, value, 0x114, 0xf, 0xf, true);
  value += __builtin_amdgcn_update_dpp(0, value, 0x118, 0xf, 0xf, true);
  out[tid_x()] = value;
}

__global__ void atomics(u32* cell, u64* wide, float* sum, u32* tickets) {
  u32 i = bid_x() * 64 + tid_x();
  __hip_atomic_fetch_add(&cell[0], 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  __hip_atomic_fetch_max(&cell[1], i, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
  __hip_atomic_fetch_or(&cell[2], 1u << (i & 31), __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  __hip_atomic_fetch_add(wide, (u64)i << 32, __ATOMIC_SEQ_CST, __HIP_MEMORY_SCOPE_SYSTEM);
  __hip_atomic_fetch_add(sum, 0.5f, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  tickets[__hip_atomic_fetch_add(&cell[3], 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)] = i;
  u32 expected = i;
  __hip_atomic_compare_exchange_strong(&cell[4], &expected, i + 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED,
                                       __HIP_MEMORY_SCOPE_AGENT);
}

__device__ NOINLINE u32 climb(u32 n, volatile u32* outer) {
  volatile u32 local[4];
  for (u32 k = 0; k < 4; ++k) local[k] = n * 10 + k + *outer;
  if (n == 0) return local[3];
  u32 deeper = climb(n - 1, &local[n & 3]);
  return deeper + local[n & 3];
}

__global__ void recurse(u32* out, u32 depth) {
  volatile u32 start = tid_x();
  out[bid_x() * 64 + tid_x()] = climb(depth + (tid_x() & 1), &start);
}

__global__ void private_array(u32* out, const u32* in, u32 n) {
  u32 local[24];
  unsigned char bytes[16];
  for (u32 k = 0; k < 24; ++k) local[k] = in[(tid_x() + k) % n];
  for (u32 k = 0; k < 16; ++k) bytes[k] = (unsigned char)(in[k % n] >> (k & 7));
  u32 at = in[tid_x() % n] % 24, sum = 0;
  for (u32 k = 0; k < 24; ++k) {
    local[at] += k;
    sum = sum * 3 + local[at] + bytes[(at + tid_x()) & 15];
    at = (at * 5 + tid_x()) % 24;
  }
  out[tid_x()] = sum;
}

// One pointer that may be to LDS, private or global memory: decided at run time.
__device__ NOINLINE void bump(u32* where, u32 by) { *where += by; }

__global__ void generic(u32* out) {
  __shared__ u32 shared[64];
  u32 own = tid_x() * 2;
  shared[tid_x()] = tid_x() * 3;
  out[tid_x()] = 7;
  u32* at = tid_x() % 3 == 0 ? &own : tid_x() % 3 == 1 ? &shared[tid_x()] : &out[tid_x()];
  bump(at, 100);
  sync();
  u32 result = own + shared[tid_x()] + out[tid_x()];
  out[tid_x()] = result;
}

// The first groups wait for the last one, which must therefore become resident and run.
__global__ void wait_for_last(u32* flag, u32* out, u32 groups) {
  if (bid_x() + 1 == groups) {
    if (tid_x() == 0) __hip_atomic_store(flag, 42u, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
  } else {
    while (__hip_atomic_load(flag, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT) != 42u) {
    }
  }
  out[bid_x() * 64 + tid_x()] = __hip_atomic_load(flag, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT) + bid_x();
}

__global__ void wait_for_host(u32* mail, u32* answer) {
  while (__hip_atomic_load(mail, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM) == 0) __builtin_amdgcn_s_sleep(1);
  __hip_atomic_store(answer, *mail + 1, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM);
}

__global__ void grid_barrier(u32* counter, u32* data, u32 groups) {
  for (u32 round = 1; round <= 4; ++round) {
    if (tid_x() == 0) data[bid_x() * 4 + round - 1] = round;
    sync();
    if (tid_x() == 0) {
      __hip_atomic_fetch_add(counter, 1u, __ATOMIC_ACQ_REL, __HIP_MEMORY_SCOPE_AGENT);
      while (__hip_atomic_load(counter, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT) < round * groups)
        __builtin_amdgcn_s_sleep(1);
    }
    sync();
    u32 other = (bid_x() + 1) % groups;
    if (tid_x() == 0 && data[other * 4 + round - 1] != round) data[0] = 0xdead;
  }
}

// Waves that end early count as arrived at the barrier.
__global__ void early_end(u32* out, u32 wave) {
  __shared__ u32 seen[4];
  if (tid_x() < 4) seen[tid_x()] = 5;
  sync();
  if (tid_x() >= wave) return;
  sync();
  out[tid_x()] = seen[tid_x() & 3];
}

__global__ void stray_store(u32* out, u32 lane) {
  if (tid_x() == lane) *(volatile u32*)0x123456789000 = 1;
  out[tid_x()] = 1;
}

__global__ void trap(u32* out) {
  out[tid_x()] = 1;
  __builtin_trap();
}

__global__ void doubles(double* out, const double* a, const double* b, u32 n) {
  u32 i = bid_x() * 64 + tid_x();
  if (i < n) out[i] = a[i] * b[i] + a[i] / b[i];
}

__global__ void dynamic_lds(u32* out, u32 words) {
  extern __shared__ u32 space[];
  for (u32 k = tid_x(); k < words; k += 64) space[k] = k * k;
  sync();
  for (u32 k = tid_x(); k < words; k += 64) out[k] = space[words - 1 - k];
}

__global__ void bytes(unsigned char* out, const unsigned char* in, unsigned short* out16, const short* in16) {
  u32 i = tid_x();
  out[i] = in[i] + 3;
  out16[i] = (unsigned short)(in16[i] - 5);
}

typedef u32 Vector16 __attribute__((ext_vector_type(16)));

__global__ void indexed(u32* out, const u32* in, u32 at) {
  Vector16 v;
  for (u32 k = 0; k < 16; ++k) v[k] = in[k * 64 + tid_x()];
  v[at & 15] += 1000;
  u32 sum = 0;
  for (u32 k = 0; k < 16; ++k) sum = sum * 3 + v[k];
  out[tid_x()] = sum + v[(at * 7) & 15];
}
