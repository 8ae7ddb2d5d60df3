// evo:launch sumRows(A, out, N, M) grid(ceil_div(N, 256)) block(256)

// One thread per row
__global__ void sumRows(float *A, float *out, int N, int M)
{
    int tid = threadIdx.x + blockIdx.x * blockDim.x;

    if (tid < N)
    {
        float s = 0;
        for (int j = 0; j < M; j++)
        {
            s = s + fabsf(A[tid * M + j]);
        }
        out[tid] = s;
    }
}
