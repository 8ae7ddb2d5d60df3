// buffers: X f32 in [N], H i32 out [BINS]
// sizes: N=1 BINS=10; N=1000 BINS=64; N=9001 BINS=300
// evo:memset H 0
// evo:launch histogram(X, H, i64(N), BINS, -3, 3) grid(ceil_div(N, 256)) block(256)

__global__ void histogram(const float *__restrict__ samples, int *bins, size_t n, int num_bins, int lo, int hi)
{
    const size_t idx = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (idx >= n) return;
    const float t = (samples[idx] - lo) / (hi - lo);
    int bin = (int)floorf(t * num_bins);
    bin = min(max(bin, 0), num_bins - 1);
    atomicAdd(bins + bin, 1);
}
