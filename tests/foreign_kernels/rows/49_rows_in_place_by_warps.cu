// A warp a row, several of them in a block: rows are normalised where they lie, and their lengths stored beside.
// buffers: emb f32 inout [R, D], norms f32 out [R]
// sizes: R=1 D=1; R=7 D=40; R=130 D=300
// evo:launch l2_normalise(emb, norms, R, D, f32(1e-6)) grid(ceil_div(R, 4)) block(32, 4)
__global__ void l2_normalise(float *emb, float *norms, int num_rows, int dim, float eps)
{
    const int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= num_rows) return;
    float *v = emb + (size_t)row * dim;
    float acc = 0.0f;
    for (int d = threadIdx.x; d < dim; d += 32) acc = fmaf(v[d], v[d], acc);
    acc += __shfl_xor_sync(0xffffffff, acc, 16);
    acc += __shfl_xor_sync(0xffffffff, acc, 8);
    acc += __shfl_xor_sync(0xffffffff, acc, 4);
    acc += __shfl_xor_sync(0xffffffff, acc, 2);
    acc += __shfl_xor_sync(0xffffffff, acc, 1);
    const float len = sqrtf(acc);
    const float inv = 1.0f / fmaxf(len, eps);
    for (int d = threadIdx.x; d < dim; d += 32) v[d] *= inv;
    if (threadIdx.x == 0) norms[row] = len;
}
