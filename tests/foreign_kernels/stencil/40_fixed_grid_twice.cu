// A grid of 8 x 8 blocks strides over all cells, in two steps with rates of their own.
// buffers: A f32 inout [H, W]
// sizes: H=1 W=1; H=33 W=50; H=20 W=131
// evo:workspace B f32 [H, W]
// evo:launch diffuse(A, B, H, W, f32(0.1)) grid(8, 8) block(8, 8)
// evo:launch diffuse(B, A, H, W, f32(0.2)) grid(8, 8) block(8, 8)

__global__ void diffuse(const float *in, float *out, int rows, int cols, float k)
{
    for (int r = blockIdx.y * blockDim.y + threadIdx.y; r < rows; r += gridDim.y * blockDim.y) {
        for (int c = blockIdx.x * blockDim.x + threadIdx.x; c < cols; c += gridDim.x * blockDim.x) {
            int up = r == 0 ? 0 : r - 1;
            int down = r == rows - 1 ? rows - 1 : r + 1;
            int left = c == 0 ? 0 : c - 1;
            int right = c == cols - 1 ? cols - 1 : c + 1;
            float centre = in[r * cols + c];
            out[r * cols + c] = centre + k * (in[up * cols + c] + in[down * cols + c] + in[r * cols + left] +
                                              in[r * cols + right] - 4.0f * centre);
        }
    }
}
