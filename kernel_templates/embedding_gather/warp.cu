// The rows of a table by their indices, one warp a row, four elements at a time where the width is a multiple of four.
// evo:param WARPS 1 2 4 8 16
// evo:param UNROLL 1 2 4 8
// evo:launch embedding_gather_warp(indices, W, Y, TOKENS, WIDTH) grid(ceil_div(TOKENS, WARPS)) block(32 * WARPS)

// Rows of a block.
#ifndef WARPS
#define WARPS 4
#endif

// Reads of a thread that are under way at a time.
#ifndef UNROLL
#define UNROLL 4
#endif

// nvcc does not expand macros in a pragma.
constexpr int kUnroll = UNROLL;

__global__ void embedding_gather_warp(const int* __restrict__ indices, const float* __restrict__ W, float* __restrict__ Y,
                                      int tokens, int width) {
  const int lane = threadIdx.x % 32;
  const int token = blockIdx.x * WARPS + threadIdx.x / 32;
  if (token >= tokens) return;
  const float* from = W + (long long)indices[token] * width;
  float* to = Y + (long long)token * width;
  if (width % 4 == 0) {
    const float4* from4 = reinterpret_cast<const float4*>(from);
    float4* to4 = reinterpret_cast<float4*>(to);
#pragma unroll kUnroll
    for (int c = lane; c < width / 4; c += 32) {
      to4[c] = from4[c];
    }
  } else {
#pragma unroll kUnroll
    for (int c = lane; c < width; c += 32) {
      to[c] = from[c];
    }
  }
}
