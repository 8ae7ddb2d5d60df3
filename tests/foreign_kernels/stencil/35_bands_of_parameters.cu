// buffers: old f64 in [H, W], next f64 out [H, W]
// sizes: H=9 W=5 T=3 B=2; H=13 W=40 T=1 B=1; H=40 W=70 T=2 B=5
// evo:launch relax(next, old, u32(H), u32(W), u32(T), u32(H - 1 - B), u32(1), u32(W - 2)) grid(ceil_div(W, 16), ceil_div(H, 16)) block(16, 16)

/* Only the rows first_row .. last_row change, both included. */
__global__ void relax(double *next, const double *old, unsigned rows, unsigned cols,
                      unsigned first_row, unsigned last_row, unsigned first_col, unsigned last_col)
{
    unsigned r = first_row + blockIdx.y * blockDim.y + threadIdx.y;
    unsigned c = first_col + blockIdx.x * blockDim.x + threadIdx.x;
    if (r > last_row || c > last_col) return;
    next[r * cols + c] = 0.25 * (old[(r - 1) * cols + c] + old[(r + 1) * cols + c] + old[r * cols + c - 1] + old[r * cols + c + 1]);
}
