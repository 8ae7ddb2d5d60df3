// A linear layer of weights by rows, with a bias and ReLU: two by two results a thread.
// buffers: in f32 in [batch, features], weight f32 in [outs, features], bias f32 in [outs], out f32 out [batch, outs]
// sizes: batch=20 features=33 outs=27; batch=64 features=48 outs=96
#define EDGE 32
#define DEEP 16

// evo:launch dense(in, weight, bias, out, u64(batch), u64(features), u64(outs)) grid(ceil_div(outs, 32), ceil_div(batch, 32)) block(16, 16)
__global__ void dense(const float* in, const float* weight, const float* bias, float* out, size_t batch, size_t features,
                      size_t outs) {
  __shared__ float xs[EDGE][DEEP];
  __shared__ float ws[DEEP][EDGE];
  float acc[2][2] = {{0.f, 0.f}, {0.f, 0.f}};
  const int x = 2 * threadIdx.x, y = 2 * threadIdx.y, id = threadIdx.y * 16 + threadIdx.x;
  for (int f = 0; f < (int)features; f += DEEP) {
    for (int part = 0; part < 2; ++part) {
      const int at = id + part * 256;
      const int row = blockIdx.y * EDGE + at / DEEP, col = f + at % DEEP;
      xs[at / DEEP][at % DEEP] = row < (int)batch && col < (int)features ? in[row * features + col] : 0.f;
      const int o = blockIdx.x * EDGE + at % EDGE, deep = f + at / EDGE;
      ws[at / EDGE][at % EDGE] = o < (int)outs && deep < (int)features ? weight[o * features + deep] : 0.f;
    }
    __syncthreads();
    for (int k = 0; k < DEEP; ++k) {
      const float a0 = xs[y][k], a1 = xs[y + 1][k], b0 = ws[k][x], b1 = ws[k][x + 1];
      acc[0][0] += a0 * b0;
      acc[0][1] += a0 * b1;
      acc[1][0] += a1 * b0;
      acc[1][1] += a1 * b1;
    }
    __syncthreads();
  }
  for (int i = 0; i < 2; ++i) {
    const int r = blockIdx.y * EDGE + y + i;
    if (r >= (int)batch) continue;
    for (int j = 0; j < 2; ++j) {
      const int c = blockIdx.x * EDGE + x + j;
      if (c >= (int)outs) continue;
      const float v = acc[i][j] + bias[c];
      out[r * outs + c] = v > 0.f ? v : 0.f;
    }
  }
}
