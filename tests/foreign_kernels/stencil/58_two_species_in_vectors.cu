// Two species in a float2, in a tile in shared memory that wraps around, with numbers in a struct in constant memory.
// buffers: A f32 in [16 * H, 2 * 16 * W], B f32 out [16 * H, 2 * 16 * W]
// sizes: H=1 W=1; H=2 W=1; H=3 W=4
// evo:launch step(A, B, 16 * W, 16 * H) grid(W, H) block(16, 16)
#define TILE 16
struct Numbers {
  float du, dv, feed, kill;
};
__constant__ Numbers numbers = {0.2f, 0.1f, 0.05f, 0.06f};

__global__ void step(const float2* __restrict__ in, float2* __restrict__ out, int w, int h) {
  __shared__ float2 s[TILE + 2][TILE + 2];
  const int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
  const int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  const int xl = (x + w - 1) % w, xr = (x + 1) % w, yu = (y + h - 1) % h, yd = (y + 1) % h;
  s[ty][tx] = in[y * w + x];
  if (tx == 1) s[ty][0] = in[y * w + xl];
  if (tx == TILE) s[ty][TILE + 1] = in[y * w + xr];
  if (ty == 1) s[0][tx] = in[yu * w + x];
  if (ty == TILE) s[TILE + 1][tx] = in[yd * w + x];
  __syncthreads();
  float2 c = s[ty][tx], lap;
  lap.x = s[ty][tx - 1].x + s[ty][tx + 1].x + s[ty - 1][tx].x + s[ty + 1][tx].x - 4.0f * c.x;
  lap.y = s[ty][tx - 1].y + s[ty][tx + 1].y + s[ty - 1][tx].y + s[ty + 1][tx].y - 4.0f * c.y;
  const float q = c.x * c.y * c.y;
  out[y * w + x] = make_float2(c.x + numbers.du * lap.x - q + numbers.feed * (1.0f - c.x),
                               c.y + numbers.dv * lap.y + q - (numbers.feed + numbers.kill) * c.y);
}
