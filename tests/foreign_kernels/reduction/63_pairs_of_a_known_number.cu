// buffers: X f32 inout [2048], Y f32 out [N]
// sizes: N=1
// evo:counted X 0
// evo:launch add_pairs(X, Y) grid(1) block(1024)

// Twice as many elements as threads; the first one has the sum in the end.
__global__ void add_pairs(float* X, float* Y) {
  unsigned int i = 2 * threadIdx.x;
  for (unsigned int s = 1; s <= blockDim.x; s *= 2) {
    if (threadIdx.x % s == 0) X[i] += X[i + s];
    __syncthreads();
  }
  if (threadIdx.x == 0) *Y = X[0];
}
