// buffers: A f32 in [N], B f32 in [N], Y u32 out [1]
// sizes: N=1; N=1000; N=30011
// evo:memset Y 0
// evo:launch points_inside(A, B, Y, N) grid(32) block(128)

__global__ void points_inside(const float* px, const float* py, unsigned int* hits, int n) {
  unsigned int inside = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
    const float r2 = px[i] * px[i] + py[i] * py[i];
    if (r2 <= 1.0f) inside++;
  }
  for (int lane = 16; lane; lane >>= 1) inside += __shfl_down_sync(0xffffffff, inside, lane);
  if ((threadIdx.x & 31) == 0) atomicAdd(hits, inside);
}
