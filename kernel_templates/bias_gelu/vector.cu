// A bias and GELU in its tanh form: a thread keeps the biases of its columns and goes through ITEMS rows, four columns at a time
// where rows are multiples of four. x / (1 + exp(-2 u)) takes the place of x / 2 (1 + tanh(u)).
// evo:param BLOCK 64 128 256 512
// evo:param ITEMS 1 2 4 8 16
// evo:param UNROLL 1 2 4
// evo:launch bias_gelu_vector(X, bias, Y, ROWS, COLS) \
//   grid(ceil_div(ROWS, ITEMS), ceil_div(COLS, BLOCK * (COLS % 4 == 0 ? 4 : 1))) block(BLOCK)

// Threads of a block.
#ifndef BLOCK
#define BLOCK 256
#endif

// Rows of a block.
#ifndef ITEMS
#define ITEMS 4
#endif

// Rows that an iteration processes.
#ifndef UNROLL
#define UNROLL 4
#endif

// nvcc does not expand macros in a pragma.
constexpr int kUnroll = UNROLL;

__device__ float Gelu(float x) {
  return x / (1.0f + expf(-1.5957691f * (x + 0.044715f * x * x * x)));
}

__global__ void __launch_bounds__(BLOCK) bias_gelu_vector(const float* __restrict__ X, const float* __restrict__ bias,
                                                          float* __restrict__ Y, int rows, int columns) {
  const int place = blockIdx.y * BLOCK + threadIdx.x;
  const int begin = blockIdx.x * ITEMS;
  const int end = min(begin + ITEMS, rows);
  if (columns % 4 == 0) {
    const int width = columns / 4;
    if (place >= width) return;
    const float4 b = reinterpret_cast<const float4*>(bias)[place];
#pragma unroll kUnroll
    for (int row = begin; row < end; ++row) {
      const long long i = (long long)row * width + place;
      const float4 x = reinterpret_cast<const float4*>(X)[i];
      reinterpret_cast<float4*>(Y)[i] = make_float4(Gelu(x.x + b.x), Gelu(x.y + b.y), Gelu(x.z + b.z), Gelu(x.w + b.w));
    }
  } else {
    if (place >= columns) return;
    const float b = bias[place];
#pragma unroll kUnroll
    for (int row = begin; row < end; ++row) {
      const long long i = (long long)row * columns + place;
      Y[i] = Gelu(X[i] + b);
    }
  }
}
