// buffers: X f32 in [R, C], Y f32 out [R, C]
// sizes: R=1 C=1; R=40 C=45; R=60 C=1129
// evo:launch softmax_block(X, Y, C) grid(R) block(256) shared(256 * 4)

// One block for each row; trees in shared memory find its maximum and its sum.
__global__ void softmax_block(const float* in, float* out, int n)
{
    extern __shared__ float buf[];
    int tid = threadIdx.x;
    const float* x = in + blockIdx.x * n;
    float* y = out + blockIdx.x * n;

    float m = -INFINITY;
    for (int i = tid; i < n; i += blockDim.x) m = fmaxf(m, x[i]);
    buf[tid] = m;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (tid < s) buf[tid] = fmaxf(buf[tid], buf[tid + s]);
        __syncthreads();
    }
    m = buf[0];
    __syncthreads();

    float sum = 0.0f;
    for (int i = tid; i < n; i += blockDim.x) sum += expf(x[i] - m);
    buf[tid] = sum;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (tid < s) buf[tid] += buf[tid + s];
        __syncthreads();
    }
    sum = buf[0];

    for (int i = tid; i < n; i += blockDim.x) y[i] = expf(x[i] - m) / sum;
}
