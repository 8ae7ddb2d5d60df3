// buffers: X f32 in [N], F i32 out [1]
// sizes: N=1; N=1000; N=30011
// evo:memset F 0
// evo:launch any_above(X, F, f32(2.5), N) grid(ceil_div(N, 256)) block(256)

// Whether some value is too large.
__global__ void any_above(const float* x, int* found, float limit, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && x[i] > limit) atomicOr(found, 1);
}
