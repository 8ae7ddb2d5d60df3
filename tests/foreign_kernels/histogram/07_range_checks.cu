// buffers: X i32<1000 in [N], H i32 out [100]
// sizes: N=1; N=1000; N=9001
// evo:memset H 0
// evo:launch count_ages(X, H, N) grid(ceil_div(N, 512)) block(512)
#define MIN_AGE 18
#define MAX_AGE 118
#define IN_RANGE(v) ((v) >= MIN_AGE && (v) < MAX_AGE)
#define GLOBAL_ID (blockIdx.x * blockDim.x + threadIdx.x)

__global__ void count_ages(const int* ages, int* counts, int n) {
  const int id = GLOBAL_ID;
  if (id >= n) return;
  const int age = ages[id];
  if (!IN_RANGE(age)) return;
  atomicAdd(counts + (age - MIN_AGE), 1);
}
