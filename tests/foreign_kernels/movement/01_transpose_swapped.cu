// buffers: A f32 in [H, W], B f32 out [W, H]
// sizes: H=1 W=1; H=13 W=12; H=40 W=130
// evo:launch transposeNaive(B, A, W, H) grid(ceil_div(W, 16), ceil_div(H, 16)) block(16, 16)

__global__ void transposeNaive(float *odata, const float *idata, int width, int height)
{
    int xIndex = blockIdx.x * blockDim.x + threadIdx.x;
    int yIndex = blockIdx.y * blockDim.y + threadIdx.y;
    if (xIndex < width && yIndex < height)
        odata[xIndex * height + yIndex] = idata[yIndex * width + xIndex];
}
