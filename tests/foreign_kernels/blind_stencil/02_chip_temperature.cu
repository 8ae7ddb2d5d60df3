// The temperature of a chip with power sources, clamped neighbours, double precision.
// buffers: temp f64 in [R, C], power f64 in [R, C], result f64 out [R, C]
// sizes: R=1 C=1; R=13 C=20; R=40 C=130
#define AMB_TEMP (80.0)

__global__ void single_iteration(double *result, const double *temp, const double *power, int row, int col,
                                 double Cap_1, double Rx_1, double Ry_1, double Rz_1)
{
    int c = threadIdx.x + blockIdx.x * blockDim.x;
    int r = threadIdx.y + blockIdx.y * blockDim.y;
    if (r >= row || c >= col)
        return;

    int idx = r * col + c;
    int n = (r == 0) ? idx : idx - col;
    int s = (r == row - 1) ? idx : idx + col;
    int w = (c == 0) ? idx : idx - 1;
    int e = (c == col - 1) ? idx : idx + 1;

    double center = temp[idx];
    double delta = Cap_1 * (power[idx] + (temp[s] + temp[n] - 2.0 * center) * Ry_1 +
                            (temp[e] + temp[w] - 2.0 * center) * Rx_1 + (AMB_TEMP - center) * Rz_1);
    result[idx] = center + delta;
}
// evo:launch single_iteration(result, temp, power, R, C, f64(0.1), f64(0.3), f64(0.2), f64(0.05)) grid(ceil_div(C, 16), ceil_div(R, 16)) block(16, 16)
