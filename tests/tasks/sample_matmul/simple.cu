// evo:launch matMul(A, B, C, M, N, K) grid(ceil_div(N, 16), ceil_div(M, 16)) block(16, 16)
__global__ void matMul(const float *A, const float *B, float *C, int M, int N, int K)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    int r = blockIdx.y * blockDim.y + threadIdx.y;

    if (r < M && c < N)
    {
        float acc = 0.0f;
        for (int p = 0; p < K; p++)
        {
            acc += A[r * K + p] * B[p * N + c];
        }
        C[r * N + c] = acc;
    }
}
