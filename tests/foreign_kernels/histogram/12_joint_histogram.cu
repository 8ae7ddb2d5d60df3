// buffers: A u8<32 in [N], B u8<32 in [N], H i32 out [1024]
// sizes: N=1; N=1000; N=9001
// evo:memset H 0
// evo:launch joint(A, B, H, N) grid(ceil_div(N, 64)) block(64)
constexpr int kBins = 32;

__global__ void joint(const unsigned char* a, const unsigned char* b, int* h, unsigned n) {
  auto i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    int* row = h + a[i] * kBins;
    atomicAdd(&row[b[i]], 1);
  }
}
