// All sizes are macros, as in a program for one layer of one network, with two output rows a thread.
// buffers: in f32 in [N, 6, 8, 8], wt f32 in [8, 6, 3, 3], bias f32 in [8], out f32 out [N, 8, 6, 6]
// sizes: N=2; N=1; N=3
#define IN_C 6
#define IN_S 8
#define OUT_C 8
#define KS 3
#define OUT_S (IN_S - KS + 1)
#define IN(n, c, y, x) in[(((n) * IN_C + (c)) * IN_S + (y)) * IN_S + (x)]
#define OUT(n, m, y, x) out[(((n) * OUT_C + (m)) * OUT_S + (y)) * OUT_S + (x)]
// evo:launch c3_forward(in, wt, bias, out) grid(N, 8) block(6, 3)
__global__ void c3_forward(const float *in, const float *wt, const float *bias, float *out) {
  int n = blockIdx.x, m = blockIdx.y, x = threadIdx.x, y = 2 * threadIdx.y;
  float up = bias[m], down = bias[m];
  for (int c = 0; c < IN_C; c++)
    for (int i = 0; i < KS; i++)
      for (int j = 0; j < KS; j++) {
        float w = wt[((m * IN_C + c) * KS + i) * KS + j];
        up += IN(n, c, y + i, x + j) * w;
        down += IN(n, c, y + 1 + i, x + j) * w;
      }
  OUT(n, m, y, x) = tanhf(up);
  OUT(n, m, y + 1, x) = tanhf(down);
}
