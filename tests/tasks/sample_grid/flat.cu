// evo:launch heatStep(u, v, W, H) grid(ceil_div(W * H, 256)) block(256)
__global__ void heatStep(const float *u, float *un, int nx, int ny)
{
    int id = threadIdx.x + blockIdx.x * blockDim.x;
    int i = id % nx;
    int j = id / nx;
    if (id < nx * ny)
    {
        if (i > 0 && i < nx - 1 && j > 0 && j < ny - 1)
        {
            un[id] = u[id] + 0.1f * (u[id - 1] + u[id + 1] + u[id - nx] + u[id + nx] - 4.0f * u[id]);
        }
        else
            un[id] = 0.0f;
    }
}
