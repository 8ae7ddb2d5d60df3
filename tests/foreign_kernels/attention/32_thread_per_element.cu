// A thread an element of the output: each computes all scores of its row anew, with an online softmax.
// buffers: q f32 in [N, D], k f32 in [N, D], v f32 in [N, D], o f32 out [N, D]
// sizes: N=1 D=16; N=37 D=32; N=70 D=64
// evo:launch attend(q, k, v, o, N, D) grid(ceil_div(N, 16), ceil_div(D, 16)) block(16, 16)

__global__ void attend(const float *q, const float *k, const float *v, float *o, int n, int d)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int c = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= n || c >= d) return;

    float largest = -INFINITY, weights = 0.0f, sum = 0.0f;
    for (int j = 0; j < n; ++j) {
        float score = 0.0f;
        for (int e = 0; e < d; ++e) score += q[i * d + e] * k[j * d + e];
        score /= sqrtf(d);
        float before = largest;
        largest = fmaxf(largest, score);
        float shrink = expf(before - largest), weight = expf(score - largest);
        weights = weights * shrink + weight;
        sum = sum * shrink + weight * v[j * d + c];
    }
    o[i * d + c] = sum / weights;
}
