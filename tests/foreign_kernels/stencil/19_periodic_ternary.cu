// buffers: PHI f32 in [NY, NX], OUT f32 out [NY, NX]
// sizes: NY=3 NX=4; NY=13 NX=12; NY=40 NX=130
// evo:launch periodic_laplace(PHI, OUT, NX, NY) grid(ceil_div(NX, 16), ceil_div(NY, 8)) block(16, 8)

__global__ void periodic_laplace(const float *phi, float *out, int nx, int ny)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < nx && y < ny)
    {
        int left  = (x == 0) ? nx - 1 : x - 1;
        int right = (x == nx - 1) ? 0 : x + 1;
        int up    = (y == 0) ? ny - 1 : y - 1;
        int down  = (y == ny - 1) ? 0 : y + 1;

        out[y * nx + x] = phi[y * nx + left] + phi[y * nx + right] + phi[up * nx + x] + phi[down * nx + x]
                          - 4.0f * phi[y * nx + x];
    }
}
