// buffers: IM f32 in [C, H, W], COL f32 out [C * 9, H, W]
// sizes: C=1 H=1 W=1; C=2 H=7 W=9; C=3 H=20 W=33
// evo:launch im2col_gpu_kernel(C * H * W, IM, H, W, 3, 1, 1, H, W, COL) grid(ceil_div(C * H * W, 512)) block(512)

__global__ void im2col_gpu_kernel(const int n, const float* data_im, const int height, const int width, const int ksize,
                                  const int pad, const int stride, const int height_col, const int width_col, float* data_col)
{
    int index = blockIdx.x * blockDim.x + threadIdx.x;
    for (; index < n; index += blockDim.x * gridDim.x) {
        int w_out = index % width_col;
        int h_index = index / width_col;
        int h_out = h_index % height_col;
        int channel_in = h_index / height_col;
        int channel_out = channel_in * ksize * ksize;
        int h_in = h_out * stride - pad;
        int w_in = w_out * stride - pad;
        float* col = data_col;
        col += (channel_out * height_col + h_out) * width_col + w_out;
        const float* im = data_im;
        im += (channel_in * height + h_in) * width + w_in;
        for (int i = 0; i < ksize; ++i) {
            for (int j = 0; j < ksize; ++j) {
                int h = h_in + i;
                int w = w_in + j;
                *col = (h >= 0 && w >= 0 && h < height && w < width) ? im[i * width + j] : 0;
                col += height_col * width_col;
            }
        }
    }
}
