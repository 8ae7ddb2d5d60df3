// buffers: X f32 in [R, C], Y f32 out [R, C]
// sizes: R=1 C=1; R=70 C=45; R=300 C=129
// evo:launch softmax_online(X, Y, R, C) grid(ceil_div(R, 256)) block(256)

// Largest value and sum of exponentials in one pass.
__global__ void softmax_online(const float* __restrict__ xd, float* __restrict__ resd, int M, int N) {
    int row = blockDim.x * blockIdx.x + threadIdx.x;

    if (row < M) {
        float m = -INFINITY;
        float L = 0.0f;

        for (int col = 0; col < N; col++) {
            int i = row * N + col;
            float curr = xd[i];
            if (curr > m) {
                L = L * expf(m - curr);
                m = curr;
            }
            L += expf(curr - m);
        }
        for (int col = 0; col < N; col++) {
            int i = row * N + col;
            resd[i] = expf(xd[i] - m) / L;
        }
    }
}
