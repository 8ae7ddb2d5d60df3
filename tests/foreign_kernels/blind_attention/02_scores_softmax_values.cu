// A course's three kernels: scores into memory, softmax of the rows there by a block each, product with the values.
// buffers: Q f32 in [N, D], K f32 in [N, D], V f32 in [N, D], O f32 out [N, D]
// sizes: N=37 D=40; N=16 D=64; N=70 D=32
// evo:workspace S f32 [N, N]
// evo:launch qk_kernel(Q, K, S, N, D) grid(ceil_div(N, 16), ceil_div(N, 16)) block(16, 16)
// evo:launch softmax_kernel(S, N) grid(N) block(128)
// evo:launch pv_kernel(S, V, O, N, D) grid(ceil_div(D, 16), ceil_div(N, 16)) block(16, 16)
#include <math.h>

#define THREADS 128

__global__ void qk_kernel(const float* Q, const float* K, float* S, int N, int d)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;

    if (row < N && col < N) {
        float sum = 0.0f;
        for (int i = 0; i < d; i++) {
            sum += Q[row * d + i] * K[col * d + i];
        }
        S[row * N + col] = sum / sqrtf((float)d);
    }
}

__global__ void softmax_kernel(float* S, int N)
{
    __shared__ float buf[THREADS];
    int row = blockIdx.x;
    int tid = threadIdx.x;
    float* s = S + row * N;

    float local_max = -INFINITY;
    for (int i = tid; i < N; i += THREADS)
        local_max = fmaxf(local_max, s[i]);
    buf[tid] = local_max;
    __syncthreads();
    for (int stride = THREADS / 2; stride > 0; stride >>= 1) {
        if (tid < stride)
            buf[tid] = fmaxf(buf[tid], buf[tid + stride]);
        __syncthreads();
    }
    float row_max = buf[0];
    __syncthreads();

    float local_sum = 0.0f;
    for (int i = tid; i < N; i += THREADS) {
        s[i] = expf(s[i] - row_max);
        local_sum += s[i];
    }
    buf[tid] = local_sum;
    __syncthreads();
    for (int stride = THREADS / 2; stride > 0; stride >>= 1) {
        if (tid < stride)
            buf[tid] += buf[tid + stride];
        __syncthreads();
    }
    float row_sum = buf[0];

    for (int i = tid; i < N; i += THREADS)
        s[i] /= row_sum;
}

__global__ void pv_kernel(const float* P, const float* V, float* O, int N, int d)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;

    if (row < N && col < d) {
        float sum = 0.0f;
        for (int i = 0; i < N; i++) {
            sum += P[row * N + i] * V[i * d + col];
        }
        O[row * d + col] = sum;
    }
}
