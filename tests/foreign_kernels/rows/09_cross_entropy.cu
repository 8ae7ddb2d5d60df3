// buffers: X f32 in [R, C], L i32<1 in [R], Y f32 out [R]
// sizes: R=1 C=1; R=70 C=45; R=300 C=129
// evo:launch cross_entropy(X, L, Y, R, C) grid((R + 255) / 256) block(256)

__global__ void cross_entropy(const float* logits, const int* labels, float* losses, int batch, int classes) {
    int b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b >= batch) return;

    float max_logit = logits[b * classes];
    for (int c = 1; c < classes; ++c) {
        float l = logits[b * classes + c];
        max_logit = l > max_logit ? l : max_logit;
    }

    float sum_exp = 0.0f;
    for (int c = 0; c < classes; ++c)
        sum_exp = sum_exp + expf(logits[b * classes + c] - max_logit);

    int label = labels[b];
    losses[b] = -(logits[b * classes + label] - max_logit - logf(sum_exp));
}
