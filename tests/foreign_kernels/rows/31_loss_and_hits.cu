// buffers: X f32 in [R, C], L i32<2 in [R], LOSS f32 out [1], HITS i32 out [1]
// sizes: R=1 C=2; R=70 C=45; R=300 C=129
// evo:memset LOSS 0
// evo:memset HITS 0
// evo:launch mean_loss(X, L, LOSS, HITS, R, C) grid(ceil_div(R, 128)) block(128)

// The mean loss of a batch and how many rows are classified right.
__global__ void mean_loss(const float *logits, const int *labels, float *loss, int *hits, int batch, int classes)
{
    int i, row = blockIdx.x * blockDim.x + threadIdx.x, where = 0;
    if (row >= batch) return;
    const float *x = logits + row * classes;
    float top = *x, sum = 0;
    for (i = 1; i < classes; i++) {
        if (x[i] > top) {
            top = x[i];
            where = i;
        }
    }
    for (i = 0; i < classes; i++) sum += expf(*x++ - top);
    atomicAdd(loss, (logf(sum) + top - logits[row * classes + labels[row]]) / batch);
    if (where == labels[row]) atomicAdd(&hits[0], 1);
}
