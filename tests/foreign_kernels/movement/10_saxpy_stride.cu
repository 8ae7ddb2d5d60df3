// buffers: X f32 in [N], Y f32 inout [N]
// sizes: N=1; N=300; N=5003
// evo:launch saxpy(N, f32(2.0), X, Y) grid(8) block(256)

__global__ void saxpy(int n, float a, const float *x, float *y)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x;
         i < n;
         i += blockDim.x * gridDim.x)
    {
        y[i] = a * x[i] + y[i];
    }
}
