// buffers: X f32 in [R, C], Y f32 out [R, C]
// sizes: R=1 C=1; R=70 C=45; R=300 C=129
// evo:launch softmax_forward_kernel1(Y, X, R, C) grid(ceil_div(R, 128)) block(128)

// A thread goes through its row three times; exponentials wait in the output.
__global__ void softmax_forward_kernel1(float* out, const float* inp, int N, int C) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {
        const float* inp_row = inp + i * C;
        float* out_row = out + i * C;

        float maxval = -INFINITY;
        for (int j = 0; j < C; j++) {
            if (inp_row[j] > maxval) {
                maxval = inp_row[j];
            }
        }
        double sum = 0.0;
        for (int j = 0; j < C; j++) {
            out_row[j] = expf(inp_row[j] - maxval);
            sum += out_row[j];
        }
        for (int j = 0; j < C; j++) {
            out_row[j] /= (float)sum;
        }
    }
}
