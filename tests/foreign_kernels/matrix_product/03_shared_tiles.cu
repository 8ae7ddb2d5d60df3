// Tiles in shared memory with a guard at the edges, one element a thread.
// buffers: A f32 in [M, K], B f32 in [K, N], C f32 out [M, N]
// sizes: M=33 N=21 K=40; M=16 N=16 K=16
#define TILE 16

// evo:launch tiledMatMul(A, B, C, M, K, N) grid((N + 16 - 1) / 16, (M + 16 - 1) / 16) block(16, 16)
__global__ void tiledMatMul(const float *A, const float *B, float *C, int numARows, int numAColumns, int numBColumns)
{
    __shared__ float As[TILE][TILE];
    __shared__ float Bs[TILE][TILE];

    int bx = blockIdx.x, by = blockIdx.y;
    int tx = threadIdx.x, ty = threadIdx.y;
    int Row = by * TILE + ty;
    int Col = bx * TILE + tx;
    float Pvalue = 0.0;

    for (int m = 0; m < (numAColumns - 1) / TILE + 1; ++m) {
        if (Row < numARows && m * TILE + tx < numAColumns)
            As[ty][tx] = A[Row * numAColumns + m * TILE + tx];
        else
            As[ty][tx] = 0.0;
        if (Col < numBColumns && m * TILE + ty < numAColumns)
            Bs[ty][tx] = B[(m * TILE + ty) * numBColumns + Col];
        else
            Bs[ty][tx] = 0.0;
        __syncthreads();

        for (int k = 0; k < TILE; ++k)
            Pvalue += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    if (Row < numARows && Col < numBColumns)
        C[Row * numBColumns + Col] = Pvalue;
}
