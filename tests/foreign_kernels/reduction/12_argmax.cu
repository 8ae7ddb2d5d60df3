// buffers: X f32 in [N], Y i32 out [1]
// sizes: N=1; N=100; N=3001
// evo:launch argmax(X, Y, N) grid(1) block(256)

__global__ void argmax(const float *x, int *where, int n)
{
    __shared__ float values[256];
    __shared__ int indices[256];
    int t = threadIdx.x;
    float best = -INFINITY;
    int at = 0;
    for (int i = t; i < n; i += blockDim.x) {
        if (x[i] > best) {
            best = x[i];
            at = i;
        }
    }
    values[t] = best;
    indices[t] = at;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (t < s) {
            bool better = values[t + s] > values[t] || (values[t + s] == values[t] && indices[t + s] < indices[t]);
            if (better) {
                values[t] = values[t + s];
                indices[t] = indices[t + s];
            }
        }
        __syncthreads();
    }
    if (t == 0) where[0] = indices[0];
}
