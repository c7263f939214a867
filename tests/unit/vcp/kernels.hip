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
