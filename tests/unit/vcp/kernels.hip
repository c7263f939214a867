// Kernels for the path from a packet to its effect, compiled without any header or library of a GPU platform.
#define KERNEL extern "C" __attribute__((global))
#define SHARED __attribute__((shared))

__attribute__((device)) static unsigned item() {
  return __builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x();
}

KERNEL void add(const int* a, const int* b, int* c, unsigned n) {
  const unsigned i = item();
  if (i < n) c[i] = a[i] + b[i];
}

KERNEL void copy(const int* from, int* to) { to[item()] = from[item()]; }

// Private memory: indexed by a value that the compiler does not know.
KERNEL void histogram(const unsigned* in, unsigned* out) {
  unsigned counts[64];
  for (unsigned i = 0; i < 64; ++i) counts[i] = i;
  for (unsigned i = 0; i < 8; ++i) counts[in[(item() + i) % 64] % 64] += item();
  unsigned sum = 0;
  for (unsigned i = 0; i < 64; ++i) sum += counts[i] * (i + 1);
  out[item()] = sum;
}

KERNEL void reverse(int* data) {
  SHARED static int tile[64];
  const unsigned lane = __builtin_amdgcn_workitem_id_x();
  tile[lane] = data[item()];
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
  data[item()] = tile[63 - lane];
}

KERNEL void wait_for(int* flag, int* out) {
  while (__atomic_load_n(flag, __ATOMIC_ACQUIRE) == 0) {
  }
  out[item()] = __atomic_load_n(flag, __ATOMIC_RELAXED) + 1;
}

KERNEL void count(unsigned* counter) { __atomic_fetch_add(counter, 1u, __ATOMIC_RELAXED); }

KERNEL void bad_store(int* where) { *where = 1; }

KERNEL void trap() { __builtin_trap(); }

#if defined(__gfx90a__)
// Scalar atomics have no builtin. cell[0] += 5, cell[1] becomes 7 where it was 3; the old values go to out.
KERNEL void scalar_atomics(unsigned* cell, unsigned* out) {
  unsigned added, swapped;
  const unsigned long at = reinterpret_cast<unsigned long>(cell);
  asm volatile(
      "v_readfirstlane_b32 s20, %2\n\tv_readfirstlane_b32 s21, %3\n\t"
      "s_mov_b32 s22, 5\n\ts_mov_b32 s24, 7\n\ts_mov_b32 s25, 3\n\t"
      "s_atomic_add s22, s[20:21], 0x0 glc\n\ts_atomic_cmpswap s[24:25], s[20:21], 0x4 glc\n\ts_waitcnt lgkmcnt(0)\n\t"
      "v_mov_b32 %0, s22\n\tv_mov_b32 %1, s24"
      : "=&v"(added), "=&v"(swapped)
      : "v"(static_cast<unsigned>(at)), "v"(static_cast<unsigned>(at >> 32))
      : "s20", "s21", "s22", "s24", "s25", "memory");
  out[0] = added;
  out[1] = swapped;
}
#endif

// Where the wave runs: HW_ID, or HW_ID1 as gfx11 calls it.
KERNEL void where(unsigned* out) {
#if defined(__gfx90a__)
  out[item()] = __builtin_amdgcn_s_getreg(4 | 31 << 11);
#else
  out[item()] = __builtin_amdgcn_s_getreg(23 | 31 << 11);
#endif
}
