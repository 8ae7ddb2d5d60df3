// buffers: X f32 in [N], Y f32 out [N]
// sizes: N=1; N=300; N=5003
// evo:workspace S f32 [ceil_div(N, 128)]
// evo:launch KoggeStone(X, Y, S, N) grid(ceil_div(N, 128)) block(128)
// evo:launch AddSums(S, Y, N) grid(ceil_div(N, 128)) block(128)
#define SECTION_SIZE 128

__global__ void KoggeStone(float *X, float *Y, float *S, unsigned int N) {
  __shared__ float buffer1_s[SECTION_SIZE];
  __shared__ float buffer2_s[SECTION_SIZE];
  float* inBuffer_s = buffer1_s;
  float* outBuffer_s = buffer2_s;
  unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
  inBuffer_s[threadIdx.x] = i < N ? X[i] : 0.0f;
  __syncthreads();
  for (unsigned int stride = 1; stride <= blockDim.x / 2; stride *= 2) {
    if (threadIdx.x >= stride) {
      outBuffer_s[threadIdx.x] = inBuffer_s[threadIdx.x] + inBuffer_s[threadIdx.x - stride];
    } else {
      outBuffer_s[threadIdx.x] = inBuffer_s[threadIdx.x];
    }
    __syncthreads();
    float* tmp = inBuffer_s;
    inBuffer_s = outBuffer_s;
    outBuffer_s = tmp;
  }
  if (i < N) Y[i] = inBuffer_s[threadIdx.x];
  if (threadIdx.x == SECTION_SIZE - 1) S[blockIdx.x] = inBuffer_s[threadIdx.x];
}

__global__ void AddSums(const float *S, float *Y, unsigned int N) {
  unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
  float before = 0.0f;
  for (unsigned int b = 0; b < blockIdx.x; ++b) before += S[b];
  if (i < N) Y[i] += before;
}
