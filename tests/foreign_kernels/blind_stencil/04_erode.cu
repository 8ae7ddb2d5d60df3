// Erosion in an image library: template radius and pixel type, border by clamping, a pitch of the rows.
// buffers: S u8<256 in [H, P], D u8 out [H, P]
// sizes: H=1 W=1 P=4; H=13 W=20 P=24; H=40 W=130 P=160
template <typename T>
struct Image {
  T* data;
  int width;
  int height;
  int pitch;
  __device__ T& at(int x, int y) const { return data[y * pitch + x]; }
};

__device__ __forceinline__ int clampi(int v, int lo, int hi) { return v < lo ? lo : (v > hi ? hi : v); }

template <typename T, int Radius>
__global__ void erode(Image<const T> src, Image<T> dst) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= dst.width || y >= dst.height) return;
  T smallest = src.at(x, y);
#pragma unroll
  for (int dy = -Radius; dy <= Radius; ++dy) {
    const int yy = clampi(y + dy, 0, src.height - 1);
#pragma unroll
    for (int dx = -Radius; dx <= Radius; ++dx) {
      const int xx = clampi(x + dx, 0, src.width - 1);
      smallest = min(smallest, src.at(xx, yy));
    }
  }
  dst.at(x, y) = smallest;
}
// evo:launch erode<unsigned char, 1>({S, W, H, P}, {D, W, H, P}) grid(ceil_div(W, 32), ceil_div(H, 8)) block(32, 8)
