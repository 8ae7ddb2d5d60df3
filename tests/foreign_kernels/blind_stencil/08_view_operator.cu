// A view of a field with `operator()`, as scientific codes make it for themselves, by value; sums of neighbours in double.
// buffers: U f64 in [NY, NX], R f64 out [NY, NX]
// sizes: NX=3 NY=3; NX=20 NY=13; NX=130 NY=40
// evo:launch residual({R, NX, NY}, {U, NX, NY}, f64(0.5)) grid(ceil_div(NX, 32), ceil_div(NY, 8)) block(32, 8)
struct Field {
  double* values;
  int nx, ny;
  __device__ double& operator()(int i, int j) { return values[j * nx + i]; }
  __device__ double operator()(int i, int j) const { return values[j * nx + i]; }
  __device__ bool inside(int i, int j) const { return i > 0 && i < nx - 1 && j > 0 && j < ny - 1; }
};

__global__ void residual(Field r, const Field u, double h2) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int j = blockIdx.y * blockDim.y + threadIdx.y;
  if (!u.inside(i, j)) return;
  r(i, j) = h2 * (u(i - 1, j) + u(i + 1, j) + u(i, j - 1) + u(i, j + 1) - 4.0 * u(i, j));
}
