// buffers: H f32 inout [R, C], D f32 in [R, C], G f32 in [C], B f32 in [C], Y f32 out [R, C]
// sizes: R=1 C=1; R=70 C=45; R=300 C=129
// evo:launch add_and_norm(H, D, G, B, Y, R, C, f32(0.00001)) grid(ceil_div(R, 128)) block(128)

// hidden += delta, then the normalised hidden state: the end of a layer of a transformer.
__global__ void add_and_norm(float *hidden, const float *delta, const float *gamma, const float *beta, float *normed,
                             int tokens, int dim, float eps) {
    int t = blockDim.x * blockIdx.x + threadIdx.x;
    if (t >= tokens)
        return;
    float mu = 0;
    for (int d = 0; d < dim; d++) {
        float h = hidden[t * dim + d] + delta[t * dim + d];
        hidden[t * dim + d] = h;
        mu += h;
    }
    mu /= dim;
    float sigma = 0;
    for (int d = 0; d < dim; d++) {
        float diff = hidden[t * dim + d] - mu;
        sigma += diff * diff;
    }
    sigma = rsqrtf(sigma / dim + eps);
    for (int d = 0; d < dim; d++)
        normed[t * dim + d] = (hidden[t * dim + d] - mu) * sigma * gamma[d] + beta[d];
}
