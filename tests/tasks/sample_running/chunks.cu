// evo:launch chunkTotals(bookings, balance, N) grid(1) block(256)

// Each thread adds up a chunk of its own; then it knows what is before it and goes through the chunk again.
__global__ void chunkTotals(const float *in, float *out, int count)
{
    __shared__ float totals[256];
    int tid = threadIdx.x;
    int size = (count + blockDim.x - 1) / blockDim.x;
    int begin = tid * size;
    int end = min(begin + size, count);

    float sum = 0.0f;
    for (int i = begin; i < end; i++) sum += in[i];
    totals[tid] = sum;
    __syncthreads();

    // Brent and Kung.
    for (int stride = 1; stride <= 128; stride *= 2) {
        int index = (tid + 1) * stride * 2 - 1;
        if (index < 256) totals[index] += totals[index - stride];
        __syncthreads();
    }
    for (int stride = 64; stride > 0; stride /= 2) {
        __syncthreads();
        int index = (tid + 1) * stride * 2 - 1;
        if (index + stride < 256) totals[index + stride] += totals[index];
    }
    __syncthreads();

    float balance = tid == 0 ? 0.0f : totals[tid - 1];
    for (int i = begin; i < end; i++) {
        balance += in[i];
        out[i] = balance;
    }
}
