// buffers: a f32 inout [N]
// sizes: N=64; N=1024
// evo:counted a 1
// evo:launch fold(a, N) grid(1) block(N / 2)

__global__ void fold(float* a, int n) {
  const int i = threadIdx.x;
  for (int half = n / 2; half > 0; half >>= 1) {
    if (i < half) a[i] += a[i + half];
    __syncthreads();
  }
}
