// buffers: X i32<100 in [N], F i32<2 in [N], Y i32 out [N]
// sizes: N=1; N=300; N=5003
// evo:launch segmented(X, F, Y, N) grid(1) block(1)

__global__ void segmented(const int *x, const int *heads, int *y, int n)
{
    int sum = 0;
    for (int i = 0; i < n; ++i) {
        if (heads[i]) sum = 0;
        sum += x[i];
        y[i] = sum;
    }
}
