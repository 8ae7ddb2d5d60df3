// buffers: S f32 in [N, C], T i32<3 in [N], LOSS f32 out [1], GRAD f32 out [N, C]
// sizes: N=1 C=3; N=70 C=10; N=200 C=45
// evo:memset LOSS 0
// evo:launch svm_loss(S, T, LOSS, GRAD, N, C, f32(1.0)) grid(ceil_div(N, 256)) block(256)

// Multiclass hinge loss (Weston and Watkins) of scores, and its gradient.
__global__ void svm_loss(const float *scores, const int *labels, float *loss, float *grad, int n, int c, float delta)
{
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i >= n) return;

    int y = labels[i];
    float correct = scores[i * c + y];
    float total = 0.0f;
    int violations = 0;

    for (int j = 0; j < c; j++) {
        float margin = scores[i * c + j] - correct + delta;
        float g = 0.0f;
        if (j != y && margin > 0.0f) {
            total += margin;
            violations++;
            g = 1.0f / n;
        }
        grad[i * c + j] = g;
    }
    grad[i * c + y] = -(float)violations / n;

    atomicAdd(loss, total / n);
}
