// SwiGLU: a thread goes through ITEMS rows at its place, four columns at a time where rows are multiples of four.
// evo:param BLOCK 64 128 256 512
// evo:param ITEMS 1 2 4 8
// evo:param UNROLL 1 2 4
// evo:launch swiglu_vector(X, Y, ROWS, COLS) \
//   grid(ceil_div(ROWS, ITEMS), ceil_div(COLS, BLOCK * (COLS % 4 == 0 ? 4 : 1))) block(BLOCK)

// Threads of a block.
#ifndef BLOCK
#define BLOCK 256
#endif

// Rows of a block.
#ifndef ITEMS
#define ITEMS 2
#endif

// Rows that an iteration processes.
#ifndef UNROLL
#define UNROLL 2
#endif

// nvcc does not expand macros in a pragma.
constexpr int kUnroll = UNROLL;

__device__ float Gated(float gate, float value) { return gate / (1.0f + expf(-gate)) * value; }

__global__ void __launch_bounds__(BLOCK) swiglu_vector(const float* __restrict__ X, float* __restrict__ Y, int rows,
                                                       int columns) {
  const int place = blockIdx.y * BLOCK + threadIdx.x;
  const int begin = blockIdx.x * ITEMS;
  const int end = min(begin + ITEMS, rows);
  if (columns % 4 == 0) {
    const float4* x = reinterpret_cast<const float4*>(X);
    float4* y = reinterpret_cast<float4*>(Y);
    const int width = columns / 4;
    if (place >= width) return;
#pragma unroll kUnroll
    for (int row = begin; row < end; ++row) {
      const float4 g = x[(long long)row * 2 * width + place];
      const float4 v = x[(long long)row * 2 * width + width + place];
      y[(long long)row * width + place] = make_float4(Gated(g.x, v.x), Gated(g.y, v.y), Gated(g.z, v.z), Gated(g.w, v.w));
    }
  } else {
    if (place >= columns) return;
#pragma unroll kUnroll
    for (int row = begin; row < end; ++row) {
      const float* x = X + (long long)row * 2 * columns;
      Y[(long long)row * columns + place] = Gated(x[place], x[columns + place]);
    }
  }
}
