// buffers: IN f32 in [M, N], OUT f32 out [M, N]
// sizes: M=1 N=1; M=9 N=200; M=4 N=1025
// evo:launch softmax_shared(IN, OUT, M, N) grid(M) block(256) shared(256 * 4)

// Homework 3, part b: one block per row, reduction in shared memory.
__global__ void softmax_shared(float *in, float *out, int M, int N)
{
    extern __shared__ float smem[];

    int row = blockIdx.x;
    int tid = threadIdx.x;
    if (row >= M) return;

    float *x = in + row * N;
    float *y = out + row * N;

    // 1. max
    float local_max = -INFINITY;
    for (int i = tid; i < N; i += blockDim.x) {
        local_max = fmaxf(local_max, x[i]);
    }
    smem[tid] = local_max;
    __syncthreads();
    for (int stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (tid < stride) {
            smem[tid] = fmaxf(smem[tid], smem[tid + stride]);
        }
        __syncthreads();
    }
    float row_max = smem[0];
    __syncthreads();

    // 2. sum
    float local_sum = 0.0f;
    for (int i = tid; i < N; i += blockDim.x) {
        local_sum += expf(x[i] - row_max);
    }
    smem[tid] = local_sum;
    __syncthreads();
    for (int stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (tid < stride) {
            smem[tid] += smem[tid + stride];
        }
        __syncthreads();
    }
    float row_sum = smem[0];

    // 3. write
    for (int i = tid; i < N; i += blockDim.x) {
        y[i] = expf(x[i] - row_max) / row_sum;
    }
}
