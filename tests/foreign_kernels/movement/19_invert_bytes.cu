// buffers: X u8<256 in [N], Y u8 out [N]
// sizes: N=1; N=300; N=5003
// evo:launch invert(X, Y, N) grid(ceil_div(N, 256)) block(256)

__global__ void invert(const unsigned char *image, unsigned char *result, int count)
{
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id < count)
        result[id] = 255 - image[id];
}
