// Device code for the loader's tests, compiled without any HIP header: every construct that shows up in an image.
#define GLOBAL __attribute__((global))
#define DEVICE __attribute__((device))
#define SHARED __attribute__((shared))
#define CONSTANT __attribute__((constant))

struct Pair {
  char tag;
  double value;
};

DEVICE int counter = 42;
DEVICE float table[16];
CONSTANT DEVICE int limits[4] = {1, 2, 3, 4};
DEVICE int* pointer_to_counter = &counter;
DEVICE float* inside_table = &table[3];
extern SHARED int dynamic_lds[];

extern "C" GLOBAL void vadd(const float* a, const float* b, float* out, int n) {
  const unsigned i =
      __builtin_amdgcn_workgroup_id_x() * __builtin_amdgcn_workgroup_size_x() + __builtin_amdgcn_workitem_id_x();
  if (i < static_cast<unsigned>(n)) out[i] = a[i] + b[i];
}

extern "C" GLOBAL void by_value(Pair pair, short small, int* out) {
  *out = static_cast<int>(pair.value) + small + pair.tag;
}

extern "C" GLOBAL void __attribute__((amdgpu_flat_work_group_size(1, 128))) with_lds(int* out) {
  SHARED static int fixed[64];
  const unsigned i = __builtin_amdgcn_workitem_id_x();
  fixed[i & 63] = out[i];
  dynamic_lds[i] = limits[i & 3];
  __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup");
  __builtin_amdgcn_s_barrier();
  out[i] = fixed[63 - (i & 63)] + dynamic_lds[0];
}

extern "C" GLOBAL void with_private(int* out, int n) {
  int local[64];
  for (int i = 0; i < 64; ++i) local[i] = out[i] * n;
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += local[(i * 7) & 63];
  *out = sum + *pointer_to_counter + static_cast<int>(*inside_table);
}

DEVICE __attribute__((noinline)) int recurse(int n) { return n <= 1 ? 1 : recurse(n - 1) + recurse(n - 2) * n; }
extern "C" GLOBAL void with_stack(int* out, int n) { *out = recurse(n); }
