// buffers: X f32 in [N], NORM f64 out [1]
// sizes: N=1; N=1000; N=30011
// evo:memset NORM 0
// evo:launch sum_of_squares(N, X, 1, NORM) grid(min(ceil_div(N, 256), 48)) block(256)
// evo:launch take_root(NORM) grid(1) block(1)

// Euclidean norm of a strided vector; every thread adds its own part.
__global__ void sum_of_squares(int n, const float *x, int incx, double *result)
{
    int start = blockIdx.x * blockDim.x + threadIdx.x;
    int step = gridDim.x * blockDim.x;

    double acc = 0.0;
    for (int i = start; i < n; i += step)
    {
        double v = x[i * incx];
        acc += v * v;
    }
    if (acc != 0.0)
        atomicAdd(result, acc);
}

__global__ void take_root(double *result)
{
    *result = sqrt(*result);
}
