// buffers: X f32 in [R, C], G f32 in [C], Y f32 out [R, C]
// sizes: R=1 C=1; R=70 C=45; R=300 C=129
// evo:launch rms_norm(X, G, Y, R, C) grid(ceil_div(R, 32)) block(32)

__device__ inline float square(float v) { return v * v; }

__global__ void rms_norm(const float* input, const float* gamma, float* output, unsigned rows, unsigned hidden) {
  const unsigned tid = threadIdx.x + blockIdx.x * blockDim.x;
  if (tid >= rows) return;
  const unsigned base = tid * hidden;
  float ss = 0.0f;
  for (unsigned h = 0; h < hidden; h++) ss += square(__ldg(&input[base + h]));
  const float scale = rsqrtf(ss / hidden + 1e-6f);
  for (unsigned h = 0; h < hidden; h++) output[base + h] = input[base + h] * scale * __ldg(&gamma[h]);
}
