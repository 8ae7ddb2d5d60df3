// One volume and one filter of three dimensions, without a border.
// buffers: v f32 in [D, H, W], k f32 in [P, R, S], o f32 out [(D - P + 1), (H - R + 1), (W - S + 1)]
// sizes: D=3 H=4 W=5 P=1 R=1 S=1; D=9 H=18 W=35 P=3 R=2 S=4
// evo:launch conv3(v, k, o, D, H, W, P, R, S, D - P + 1, H - R + 1, W - S + 1) grid(ceil_div(W - S + 1, 16), ceil_div(H - R + 1, 16), D - P + 1) block(16, 16)

__global__ void conv3(const float *v, const float *k, float *o, int depth, int height, int width, int planes, int rows,
                      int columns, int out_depth, int out_height, int out_width)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, z = blockIdx.z;
    if (z >= out_depth || y >= out_height || x >= out_width) return;
    float sum = 0.0f;
    for (int h = 0; h < planes; ++h)
        for (int i = 0; i < rows; ++i)
            for (int j = 0; j < columns; ++j)
                sum += v[((z + h) * height + y + i) * width + x + j] * k[(h * rows + i) * columns + j];
    o[(z * out_height + y) * out_width + x] = sum;
}
