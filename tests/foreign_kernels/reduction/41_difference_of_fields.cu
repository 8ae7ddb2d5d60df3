// buffers: A f64 in [H, W], B f64 in [H, W], Y f64 out [1]
// sizes: H=1 W=1; H=20 W=31; H=65 W=130
// evo:memset Y 0
// evo:launch field_difference(A, B, Y, H, W) grid(ceil_div(W, 32), ceil_div(H, 8)) block(32, 8)

#define BX 32
#define BY 8
#define AT(f, x, y) f[(y) * nx + (x)]

// The squared distance of two fields, such as two time levels.
__global__ void field_difference(const double *a, const double *b, double *total, const int ny, const int nx)
{
    __shared__ double part[BX * BY];
    const int x = blockIdx.x * BX + threadIdx.x;
    const int y = blockIdx.y * BY + threadIdx.y;
    const int t = threadIdx.x + threadIdx.y * BX;

    part[t] = 0.0;
    if (y < ny && x < nx) part[t] = (AT(a, x, y) - AT(b, x, y)) * (AT(a, x, y) - AT(b, x, y));
    __syncthreads();
    for (int s = BX * BY / 2; s > 0; s /= 2) {
        if (t < s) part[t] += part[t + s];
        __syncthreads();
    }
    if (threadIdx.x == 0 && threadIdx.y == 0) atomicAdd(total, part[0]);
}
