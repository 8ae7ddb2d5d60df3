// buffers: X f32 in [N], Y f32 out [N]
// sizes: N=1; N=300; N=5003
// evo:launch cumsum(X, Y, N) grid(1) block(1)

// First version: correct, not fast.
__global__ void cumsum(const float *x, float *y, int n)
{
    float total = 0.0f;
    for (int i = 0; i < n; ++i) {
        total += x[i];
        y[i] = total;
    }
}
