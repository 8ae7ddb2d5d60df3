// evo:size W = W
// evo:launch reference(X, V, Y, H) grid(ceil_div(H, 64)) block(64)

#ifndef W
#define W 1024
#endif

__global__ void reference(const float* x, const float* v, double* y, int height) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= height) return;
  double sum = 0;
  for (int k = 0; k < W; ++k) sum += double(x[row * W + k]) * double(v[k]);
  y[row] = sum;
}
