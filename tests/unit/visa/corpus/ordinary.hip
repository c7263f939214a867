// Ordinary HIP code whose instructions the oracle test decodes. Needs no header: compiled with -nogpuinc -nogpulib.
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))

typedef _Float16 half;
typedef half half2 __attribute__((ext_vector_type(2)));

__device__ int tid() { return __builtin_amdgcn_workitem_id_x() + __builtin_amdgcn_workgroup_id_x() * 64; }

__global__ void vadd(float* a, const float* b, const float* c, int n) {
  int i = tid();
  if (i < n) a[i] = b[i] + c[i];
}

__global__ void dmath(double* a, const double* b, int n) {
  int i = tid();
  if (i < n) a[i] = b[i] / (a[i] + 1.5) + __builtin_sqrt(b[i]) + __builtin_fma(a[i], b[i], __builtin_floor(a[i]));
}

__global__ void fmath(float* a, const float* b, int n) {
  int i = tid();
  if (i >= n) return;
  a[i] = b[i] / (a[i] + 1.5f) + __builtin_sqrtf(b[i]) * __builtin_floorf(b[i]) + __builtin_fmaf(a[i], b[i], 3.0f);
  a[i] += __builtin_fminf(__builtin_fmaxf(b[i], 0.0f), 1.0f) + __builtin_fabsf(a[i]) - __builtin_truncf(b[i]);
}

__global__ void hmath(half* a, const half* b, half2* c, int n) {
  int i = tid();
  if (i >= n) return;
  a[i] = b[i] / (a[i] + (half)1.5) * b[i];
  c[i] = c[i] * c[i] + c[i + 1];
}

__global__ void imath(int* a, const int* b, unsigned* u, long* l, unsigned long* ul, short* s, unsigned char* ch,
                      int n) {
  int i = tid();
  if (i >= n) return;
  a[i] = b[i] / a[i] + (b[i] % 7) + __builtin_clz(b[i]) + __builtin_popcount(u[i]);
  u[i] = u[i] / 3u + (u[i] << 5 | u[i] >> 27) + u[i] % u[i + 1];
  l[i] = l[i] * l[i + 1] / l[i + 2] - (l[i] >> 3);
  ul[i] = ul[i] % ul[i + 1] + ul[i] / 10;
  s[i] = s[i] * s[i + 1] - s[i + 2];
  ch[i] += ch[i + 1] >> 1;
}

__global__ void lds(float* a) {
  __shared__ float t[256];
  int i = __builtin_amdgcn_workitem_id_x();
  t[i] = a[i];
  __builtin_amdgcn_s_barrier();
  a[i] = t[255 - i] + t[(i * 7) & 255];
}

__global__ void reduce(int* a, int* out, int n) {
  int i = tid();
  int v = i < n ? a[i] : 0;
  for (int o = 32; o; o >>= 1) v += __builtin_amdgcn_ds_bpermute(((i ^ o) & 63) * 4, v);
  if ((i & 63) == 0) __hip_atomic_fetch_add(out, v, __ATOMIC_RELAXED, 4);
  __hip_atomic_fetch_max(out + 1, v, __ATOMIC_ACQ_REL, 3);
  __hip_atomic_fetch_add((float*)out + 2, 1.0f, __ATOMIC_SEQ_CST, 4);
  int e = 3;
  __hip_atomic_compare_exchange_strong(out + 3, &e, v, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST, 5);
}

__global__ void lanes(int* a) {
  int i = tid(), v = a[i];
  v += __builtin_amdgcn_update_dpp(0, v, 0xb1, 0xf, 0xf, true);
  v += __builtin_amdgcn_update_dpp(v, v, 0x111, 0xf, 0xf, false);
  v += __builtin_amdgcn_readfirstlane(v) + __builtin_amdgcn_readlane(v, 5) + __builtin_amdgcn_ds_swizzle(v, 0x1f);
  a[i] =
      v + __builtin_amdgcn_mbcnt_lo(~0u, 0) + __builtin_amdgcn_perm(v, i, 0x03020100) + __builtin_amdgcn_ubfe(v, 3, 5);
}

__attribute__((noinline)) __device__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
__global__ void calls(int* a) { a[tid()] = fib(a[tid()]); }

__global__ void conversions(float* f, double* d, int* i, unsigned* u, half* h, long* l, unsigned char* c) {
  int t = tid();
  f[t] = (float)i[t] + (float)u[t] + (float)d[t] + (float)h[t] + (float)l[t] + c[t];
  d[t] = f[t] + (double)i[t] + (double)l[t];
  i[t] = (int)f[t] + (int)d[t];
  u[t] = (unsigned)f[t] + (unsigned)d[t];
  h[t] = (half)f[t];
  l[t] = (long)f[t] + (long)d[t];
  c[t] = (unsigned char)f[t];
}

__global__ void branches(int* a) {
  int i = tid(), x[20], s = 0;
  for (int k = 0; k < 20; k++) x[k] = a[i * k];
  for (int k = 0; k < a[0]; k++) s += x[(k * a[1]) % 20];
  switch (s & 7) {
    case 0: s += 3; break;
    case 1: s *= 5; break;
    case 2: s ^= 0x1234567; break;
    case 3: s = -s; break;
    case 4: s = __builtin_bitreverse32(s); break;
    default: s <<= 2;
  }
  if (s == 12345) __builtin_trap();
  a[i] = s;
}
