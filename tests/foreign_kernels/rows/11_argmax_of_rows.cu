// buffers: X f32 in [R, C], Y i32 out [R]
// sizes: R=1 C=1; R=70 C=45; R=300 C=129
// evo:launch predict(X, Y, R, C) grid(ceil_div(R, 64)) block(64)

__global__ void predict(const float *scores, int *classes, int samples, int num_classes)
{
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s < samples) {
        int best = 0;
        float best_score = scores[s * num_classes];
        for (int c = 1; c < num_classes; c++) {
            if (scores[s * num_classes + c] > best_score) {
                best_score = scores[s * num_classes + c];
                best = c;
            }
        }
        classes[s] = best;
    }
}
