// buffers: X f32 in [R, C], Y f32 out [R, C]
// sizes: R=1 C=1; R=70 C=45; R=300 C=129
// evo:launch ln<128>(X, Y, R, C, 1) grid(ceil_div(R, 128)) block(128)
#define IDX(r, c, n) ((r) * (n) + (c))

// Both moments in one pass.
template <int BLOCK>
__global__ void ln(const float *__restrict__ src, float *__restrict__ dst, int rows, int n, int unused)
{
    const int row = blockIdx.x * BLOCK + threadIdx.x;
    if (row >= rows)
        return;
    float s1 = 0.f, s2 = 0.f;
    for (int c = 0; c < n; ++c)
    {
        const float v = src[IDX(row, c, n)];
        s1 += v;
        s2 += v * v;
    }
    const float mu = s1 / n;
    const float inv = rsqrtf(s2 / n - mu * mu + 1e-3f);
    for (int c = 0; c < n; ++c)
        dst[IDX(row, c, n)] = (src[IDX(row, c, n)] - mu) * inv;
}
