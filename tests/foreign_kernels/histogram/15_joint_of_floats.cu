// buffers: X f32 in [N], Y f32 in [N], H u32 out [NB, NB]
// sizes: N=1 NB=4; N=1000 NB=16; N=9001 NB=20
// evo:memset H 0
// evo:launch mutual({f32(-3.0), f32(3.0), NB}, {f32(-2.0), f32(4.0), NB}, X, Y, H, i64(N)) grid(ceil_div(N, 192)) block(192)

struct Axis {
  float low, high;
  int bins;
  __device__ int bin(float v) const {
    int b = static_cast<int>((v - low) / (high - low) * bins);
    return b < 0 ? 0 : b >= bins ? bins - 1 : b;
  }
};

__global__ void mutual(Axis ax, Axis ay, const float* x, const float* y, unsigned int* joint, size_t n) {
  const size_t i = threadIdx.x + static_cast<size_t>(blockIdx.x) * blockDim.x;
  if (i < n) atomicAdd(joint + ay.bin(y[i]) * ax.bins + ax.bin(x[i]), 1u);
}
