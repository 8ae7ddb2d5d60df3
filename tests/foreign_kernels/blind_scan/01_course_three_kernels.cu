// buffers: IN f32 in [N], OUT f32 out [N]
// sizes: N=1; N=700; N=5003
// evo:workspace sums f32 [ceil_div(N, 2 * 256)]
// evo:workspace scanned f32 [ceil_div(N, 2 * 256)]
// evo:workspace unused f32 [1]
// evo:launch scan(IN, OUT, sums, N) grid(ceil_div(N, 2 * 256)) block(256)
// evo:launch scan(sums, scanned, unused, ceil_div(N, 2 * 256)) grid(1) block(256)
// evo:launch addScannedBlockSums(OUT, scanned, N) grid(ceil_div(N, 2 * 256)) block(256)

#define BLOCK_SIZE 256

__global__ void scan(float *input, float *output, float *aux, int len) {
  __shared__ float XY[2 * BLOCK_SIZE];
  int t = threadIdx.x;
  int start = 2 * blockIdx.x * BLOCK_SIZE;

  XY[t] = (start + t < len) ? input[start + t] : 0.0f;
  XY[t + BLOCK_SIZE] = (start + t + BLOCK_SIZE < len) ? input[start + t + BLOCK_SIZE] : 0.0f;

  for (int stride = 1; stride <= BLOCK_SIZE; stride *= 2) {
    __syncthreads();
    int index = (t + 1) * stride * 2 - 1;
    if (index < 2 * BLOCK_SIZE) XY[index] += XY[index - stride];
  }
  for (int stride = BLOCK_SIZE / 2; stride > 0; stride /= 2) {
    __syncthreads();
    int index = (t + 1) * stride * 2 - 1;
    if (index + stride < 2 * BLOCK_SIZE) XY[index + stride] += XY[index];
  }
  __syncthreads();

  if (start + t < len) output[start + t] = XY[t];
  if (start + t + BLOCK_SIZE < len) output[start + t + BLOCK_SIZE] = XY[t + BLOCK_SIZE];
  if (aux && t == 0) aux[blockIdx.x] = XY[2 * BLOCK_SIZE - 1];
}

__global__ void addScannedBlockSums(float *output, float *scannedSums, int len) {
  int idx = blockIdx.x * 2 * BLOCK_SIZE + threadIdx.x;
  if (blockIdx.x > 0) {
    if (idx < len) output[idx] += scannedSums[blockIdx.x - 1];
    if (idx + BLOCK_SIZE < len) output[idx + BLOCK_SIZE] += scannedSums[blockIdx.x - 1];
  }
}
