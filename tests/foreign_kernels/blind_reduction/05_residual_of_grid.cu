// buffers: U f64 in [NY, NX], F f64 in [NY, NX], NORM f64 out [1]
// sizes: NY=3 NX=3; NY=40 NX=70; NY=130 NX=61
// evo:memset NORM 0
// evo:launch residual_norm(U, F, NORM, NX, NY, f64(0.25)) grid(ceil_div(NX, 16), ceil_div(NY, 16)) block(16, 16)

#define TX 16
#define TY 16
#define IDX(i, j) ((j) * nx + (i))

/* Squared L2 norm of f - A u over the inner points of a 2-D grid. */
__global__ void residual_norm(const double *u, const double *f, double *norm, int nx, int ny, double h2)
{
    __shared__ double s[TX * TY];

    int i = blockIdx.x * TX + threadIdx.x;
    int j = blockIdx.y * TY + threadIdx.y;
    int l = threadIdx.y * TX + threadIdx.x;

    double r = 0.0;
    if (i > 0 && i < nx - 1 && j > 0 && j < ny - 1) {
        double lap = u[IDX(i - 1, j)] + u[IDX(i + 1, j)] + u[IDX(i, j - 1)] + u[IDX(i, j + 1)] - 4.0 * u[IDX(i, j)];
        r = f[IDX(i, j)] + lap / h2;
    }
    s[l] = r * r;
    __syncthreads();

    for (int k = (TX * TY) / 2; k >= 1; k = k / 2) {
        if (l < k)
            s[l] = s[l] + s[l + k];
        __syncthreads();
    }
    if (l == 0)
        atomicAdd(norm, s[0]);
}
