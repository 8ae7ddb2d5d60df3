// buffers: X f32 in [N], H u64 out [32]
// sizes: N=1; N=1000; N=9001
// evo:memset H 0
// evo:launch magnitudes(X, i64(N), H) grid(6) block(128)

__device__ inline bool usable(float v) { return v > 0.0f && v < 1.0e6f; }

__global__ void magnitudes(const float* v, long long n, unsigned long long* count)
{
    const long long step = (long long)blockDim.x * gridDim.x;
    for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n; i += step)
    {
        float f = v[i];
        if (!usable(f))
            continue;
        int e = ilogbf(f) + 16;
        if (e < 0)
            e = 0;
        if (e > 31)
            e = 31;
        atomicAdd(&count[e], 1ULL);
    }
}
