// buffers: X f32 in [R, C], Y f32 out [R, C]
// sizes: R=1 C=1; R=70 C=45; R=300 C=129
// evo:launch normalize(X, Y, R, C) grid(ceil_div(R, 128)) block(128)

__global__ void normalize(const float *vectors, float *normalized, int count, int dim)
{
    int v = blockDim.x * blockIdx.x + threadIdx.x;
    if (v >= count)
        return;

    const float *p = vectors + (long long)v * dim;
    float norm = 0.0f;
    for (int d = 0; d < dim; d++) {
        norm += *p * *p;
        p++;
    }
    norm = sqrtf(norm) + 1e-12f;

    p = vectors + (long long)v * dim;
    float *q = normalized + (long long)v * dim;
    for (int d = 0; d < dim; d++)
        *q++ = *p++ / norm;
}
