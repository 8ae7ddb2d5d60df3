// buffers: X f32 in [R, C], L i32<3 in [R], Y f32 out [R]
// sizes: R=1 C=3; R=70 C=45; R=300 C=129
// evo:launch nll_loss_kernel(X, L, Y, R, C, 1, f32(0.1)) grid(ceil_div(R, 256)) block(256)

// Cross entropy with smoothed labels. Rows whose label is ignored have no loss.
__global__ void nll_loss_kernel(const float* logits, const int* labels, float* losses, int batch, int vocab,
                                int ignore_index, float smoothing)
{
    int b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b >= batch) return;
    int label = labels[b];
    if (label == ignore_index) {
        losses[b] = 0.0f;
        return;
    }
    const float* l = logits + b * vocab;
    float biggest = -INFINITY, total = 0.0f;
    for (int v = 0; v < vocab; v++) {
        biggest = max(biggest, l[v]);
        total += l[v];
    }
    float z = 0.0f;
    for (int v = 0; v < vocab; v++) z += expf(l[v] - biggest);
    float log_z = logf(z) + biggest;
    losses[b] = (1.0f - smoothing) * (log_z - l[label]) + smoothing * (log_z - total / vocab);
}
