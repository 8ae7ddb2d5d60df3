// buffers: X f64 in [R, C], M f64 out [C], S f64 out [C]
// sizes: R=1 C=1; R=45 C=70; R=300 C=33
// evo:launch column_moments(X, M, S, R, C) grid(ceil_div(C, 64)) block(64)

// Mean and spread of columns; both wait in the outputs.
__global__ void column_moments(const double *x, double *mean, double *spread, int rows, int columns)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= columns) return;
    const double *p = x + c;
    mean[c] = 0;
    for (int r = 0; r < rows; r++, p += columns) mean[c] += *p;
    mean[c] /= rows;
    p = x + c;
    spread[c] = 0;
    for (int r = 0; r < rows; r++) {
        spread[c] += (*p - mean[c]) * (*p - mean[c]);
        p += columns;
    }
    if (rows > 1) spread[c] = sqrt(spread[c] / (rows - 1));
}
