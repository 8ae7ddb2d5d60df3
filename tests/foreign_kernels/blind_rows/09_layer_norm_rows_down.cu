// buffers: A f64 inout [R, C], G f64 in [C], B f64 in [C]
// sizes: R=1 C=2; R=70 C=45; R=33 C=200
// evo:launch normalise_rows<double>({A, R, C, C}, G, B) grid(ceil_div(R, 32)) block(32)

template <class Real>
struct Rows {
  Real *data;
  int count, length, pitch;
  __device__ Real *operator[](int r) const { return data + (long)r * pitch; }
};

template <class Real>
__device__ Real mean_of(const Real *v, int n) {
  Real s = 0;
  for (int k = n - 1; k >= 0; --k) s += v[k];
  return s / n;
}

template <class Real>
__device__ Real deviation_of(const Real *v, int n, Real mean) {
  Real s = 0;
  for (int k = n - 1; k >= 0; --k) {
    const Real d = v[k] - mean;
    s += d * d;
  }
  return sqrt(s / n);
}

template <class Real>
__global__ void normalise_rows(Rows<Real> a, const Real *gain, const Real *bias) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= a.count) return;
  Real *const row = a[r];
  const Real mean = mean_of(row, a.length);
  const Real inverse = Real(1) / (deviation_of(row, a.length, mean) + Real(1e-6));
  for (int k = a.length - 1; k >= 0; --k) row[k] = (row[k] - mean) * inverse * gain[k] + bias[k];
}
