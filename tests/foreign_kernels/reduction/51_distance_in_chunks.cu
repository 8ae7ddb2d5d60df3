// The root of the mean square distance of two arrays, of which each thread has a run of neighbours.
// buffers: A f32 in [N], B f32 in [N], R f32 out [1]
// sizes: N=1; N=1000; N=5003
// evo:workspace P f32 [8]
// evo:launch distance(A, B, P, N) grid(8) block(64)
// evo:launch finish(P, R, N) grid(1) block(1)

__global__ void distance(const float *a, const float *b, float *part, int n)
{
    __shared__ float sh[64];
    int each = (n + 511) / 512;
    int first = (blockIdx.x * 64 + threadIdx.x) * each;
    float s = 0.0f;
    for (int i = first; i < first + each && i < n; i++) {
        float d = a[i] - b[i];
        s += d * d;
    }
    sh[threadIdx.x] = s;
    __syncthreads();
    for (int k = 32; k > 0; k >>= 1) {
        if (threadIdx.x < k) sh[threadIdx.x] += sh[threadIdx.x + k];
        __syncthreads();
    }
    if (threadIdx.x == 0) part[blockIdx.x] = sh[0];
}

__global__ void finish(const float *part, float *result, int n)
{
    float all = 0.0f;
    for (int i = 0; i < 8; i++) all += part[i];
    *result = sqrtf(all / n);
}
