// The rotary embedding: a thread reads the tables once and rotates the same pairs of HEADS heads, four pairs at a time where HALF
// is a multiple of four.
// evo:param BLOCK 64 128 256 512
// evo:param HEADS 1 2 4 8 16
// evo:param UNROLL 1 2 4
// evo:launch rotary_embedding_vector(X, cosine, sine, Y, N * H, L, HALF) \
//   grid(ceil_div(N * H, HEADS), ceil_div(HALF % 4 == 0 ? L * (HALF / 4) : L * HALF, BLOCK)) block(BLOCK)

// Threads of a block.
#ifndef BLOCK
#define BLOCK 256
#endif

// Heads, of all sequences, that a thread goes through.
#ifndef HEADS
#define HEADS 4
#endif

// Heads that an iteration processes.
#ifndef UNROLL
#define UNROLL 4
#endif

// nvcc does not expand macros in a pragma.
constexpr int kUnroll = UNROLL;

__device__ float First(float a, float b, float c, float s) { return a * c - b * s; }

__device__ float Second(float a, float b, float c, float s) { return b * c + a * s; }

__global__ void __launch_bounds__(BLOCK) rotary_embedding_vector(const float* __restrict__ X, const float* __restrict__ cosine,
                                                                 const float* __restrict__ sine, float* __restrict__ Y, int heads,
                                                                 int places, int half_width) {
  const bool vectors = half_width % 4 == 0;
  const int width = vectors ? half_width / 4 : half_width;
  const long long table = (long long)blockIdx.y * BLOCK + threadIdx.x;
  if (table >= (long long)places * width) return;
  const long long place = table / width;
  const int i = table % width;
  const int begin = blockIdx.x * HEADS;
  const int end = min(begin + HEADS, heads);
  if (vectors) {
    const float4 c = reinterpret_cast<const float4*>(cosine)[table];
    const float4 s = reinterpret_cast<const float4*>(sine)[table];
#pragma unroll kUnroll
    for (int head = begin; head < end; ++head) {
      const long long at = ((long long)head * places + place) * 2 * width + i;
      const float4 a = reinterpret_cast<const float4*>(X)[at];
      const float4 b = reinterpret_cast<const float4*>(X)[at + width];
      reinterpret_cast<float4*>(Y)[at] = make_float4(First(a.x, b.x, c.x, s.x), First(a.y, b.y, c.y, s.y),
                                                     First(a.z, b.z, c.z, s.z), First(a.w, b.w, c.w, s.w));
      reinterpret_cast<float4*>(Y)[at + width] = make_float4(Second(a.x, b.x, c.x, s.x), Second(a.y, b.y, c.y, s.y),
                                                             Second(a.z, b.z, c.z, s.z), Second(a.w, b.w, c.w, s.w));
    }
  } else {
    const float c = cosine[table];
    const float s = sine[table];
#pragma unroll kUnroll
    for (int head = begin; head < end; ++head) {
      const long long at = ((long long)head * places + place) * 2 * width + i;
      const float a = X[at];
      const float b = X[at + width];
      Y[at] = First(a, b, c, s);
      Y[at + width] = Second(a, b, c, s);
    }
  }
}
