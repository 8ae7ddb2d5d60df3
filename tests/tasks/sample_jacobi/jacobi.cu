// evo:workspace other f32 [N, N]
// evo:repeat STEP < 2 * R
// evo:launch jacobi_step({grid, other, N}, bool(STEP >= 0)) grid(ceil_div(N, 16), ceil_div(N, 16)) block(16, 16)
// evo:swap grid other
// evo:end
struct Field {
    const float *in;
    float *out;
    int n;
};

static __global__ void jacobi_step(Field f, bool active)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (!active || col >= f.n || row >= f.n) return;
    int at = row * f.n + col;
    if (col == 0 || row == 0 || col == f.n - 1 || row == f.n - 1)
        f.out[at] = f.in[at];
    else
        f.out[at] = 0.25f * (f.in[at - 1] + f.in[at + 1] + f.in[at - f.n] + f.in[at + f.n]);
}
