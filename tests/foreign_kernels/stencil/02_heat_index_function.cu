// buffers: U f32 in [N, M], V f32 out [N, M]
// sizes: N=1 M=1; N=13 M=12; N=130 M=40
// evo:launch evolve_kernel(U, V, N, M) grid(ceil_div(N, 16), ceil_div(M, 16)) block(16, 16)
#define DX2 (0.01f * 0.01f)
#define DY2 (0.02f * 0.02f)
#define A_DT 0.00001f

__host__ __device__ int getIndex(const int i, const int j, const int width)
{
    return i * width + j;
}

// The slow index goes with x, as in the course's code.
__global__ void evolve_kernel(const float* Un, float* Unp1, const int nx, const int ny)
{
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i > 0 && i < nx - 1)
    {
        int j = threadIdx.y + blockIdx.y * blockDim.y;
        if (j > 0 && j < ny - 1)
        {
            const int index = getIndex(i, j, ny);
            float uij = Un[index];
            float uim1j = Un[getIndex(i - 1, j, ny)];
            float uijm1 = Un[getIndex(i, j - 1, ny)];
            float uip1j = Un[getIndex(i + 1, j, ny)];
            float uijp1 = Un[getIndex(i, j + 1, ny)];

            // Explicit scheme
            Unp1[index] = uij + A_DT * ((uim1j - 2.0f * uij + uip1j) / DX2 + (uijm1 - 2.0f * uij + uijp1) / DY2);
        }
    }
}
