// buffers: X f32 in [N], Y f32 out [N]
// sizes: N=1; N=300; N=5003
// evo:workspace S f32 [ceil_div(N, 256)]
// evo:launch Brent_Kung_scan_kernel(X, Y, S, N) grid(ceil_div(N, 256)) block(128)
// evo:launch scan_block_sums(S, ceil_div(N, 256)) grid(1) block(1)
// evo:launch distribute(S, Y, N) grid(ceil_div(N, 256)) block(256)
#define SECTION_SIZE 256

__global__ void Brent_Kung_scan_kernel(float *X, float *Y, float *S, unsigned int N) {
  __shared__ float XY[SECTION_SIZE];
  unsigned int i = 2 * blockIdx.x * blockDim.x + threadIdx.x;
  XY[threadIdx.x] = 0.0f;
  XY[threadIdx.x + blockDim.x] = 0.0f;
  if (i < N) XY[threadIdx.x] = X[i];
  if (i + blockDim.x < N) XY[threadIdx.x + blockDim.x] = X[i + blockDim.x];
  for (unsigned int stride = 1; stride <= blockDim.x; stride *= 2) {
    __syncthreads();
    unsigned int index = (threadIdx.x + 1) * 2 * stride - 1;
    if (index < SECTION_SIZE) {
      XY[index] += XY[index - stride];
    }
  }
  for (int stride = SECTION_SIZE / 4; stride > 0; stride /= 2) {
    __syncthreads();
    unsigned int index = (threadIdx.x + 1) * stride * 2 - 1;
    if (index + stride < SECTION_SIZE) {
      XY[index + stride] += XY[index];
    }
  }
  __syncthreads();
  if (i < N) Y[i] = XY[threadIdx.x];
  if (i + blockDim.x < N) Y[i + blockDim.x] = XY[threadIdx.x + blockDim.x];
  if (threadIdx.x == 0) S[blockIdx.x] = XY[SECTION_SIZE - 1];
}

__global__ void scan_block_sums(float *S, int count) {
  float sum = 0.0f;
  for (int k = 0; k < count; k++) {
    sum += S[k];
    S[k] = sum;
  }
}

__global__ void distribute(const float *S, float *Y, unsigned int N) {
  unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (blockIdx.x > 0 && i < N) Y[i] += S[blockIdx.x - 1];
}
