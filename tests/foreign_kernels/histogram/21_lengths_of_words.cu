// buffers: L i32<50 in [N], C i32 out [MOST]
// sizes: N=1 MOST=3; N=1000 MOST=40; N=9001 MOST=64
// evo:launch lengths(L, N, C, MOST) grid(ceil_div(MOST, 32)) block(32)

__global__ void lengths(const int* len, int n, int* count, int most) {
  const int k = blockIdx.x * 32 + threadIdx.x;
  if (k >= most) return;
  int c = 0;
  for (int i = 0; i < n; ++i) c += (k == len[i]);
  count[k] = c;
}
