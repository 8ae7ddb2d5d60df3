// buffers: A f32 in [N], B f32 in [N], C f32 out [12], L f32 out [12]
// sizes: N=1; N=700; N=20011
// evo:launch dot_and_length(A, B, C, L, N) grid(12) block(256)

// The host adds up what the blocks leave, so that each of them must go on with its own elements.
__global__ void dot_and_length(const float *a, const float *b, float *c, float *length, int n) {
  __shared__ float cache[256];
  __shared__ float squares[256];
  int tid = threadIdx.x + blockIdx.x * blockDim.x;
  float temp = 0, square = 0;
  while (tid < n) {
    temp += a[tid] * b[tid];
    square += a[tid] * a[tid];
    tid += blockDim.x * gridDim.x;
  }
  cache[threadIdx.x] = temp;
  squares[threadIdx.x] = square;
  __syncthreads();
  int i = blockDim.x / 2;
  while (i != 0) {
    if (threadIdx.x < i) {
      cache[threadIdx.x] += cache[threadIdx.x + i];
      squares[threadIdx.x] += squares[threadIdx.x + i];
    }
    __syncthreads();
    i /= 2;
  }
  if (threadIdx.x == 0) {
    c[blockIdx.x] = cache[0];
    length[blockIdx.x] = sqrtf(squares[0]);
  }
}
