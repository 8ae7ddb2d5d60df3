// Matrices behind a view with operator(), as numerical codes have them. Rows along x.
// buffers: A f32 in [M, K], B f32 in [K, N], C f32 out [M, N]
// sizes: M=37 N=21 K=40; M=16 N=64 K=16; M=3 N=2 K=5
// evo:launch product<float>(A, B, C, M, N, K) grid(ceil_div(M, 32), ceil_div(N, 4)) block(32, 4)
namespace linalg {

template <class Real>
class MatrixView {
 public:
  __device__ MatrixView(Real* data, int rows, int cols) : data_(data), rows_(rows), cols_(cols) {}
  __device__ Real& operator()(int i, int j) const { return data_[i * cols_ + j]; }
  __device__ int rows() const { return rows_; }
  __device__ int cols() const { return cols_; }

 private:
  Real* data_;
  int rows_;
  int cols_;
};

}  // namespace linalg

template <class Real>
__global__ void product(const Real* a, const Real* b, Real* c, int m, int n, int k) {
  const linalg::MatrixView<const Real> A(a, m, k);
  const linalg::MatrixView<const Real> B(b, k, n);
  const linalg::MatrixView<Real> C(c, m, n);
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < C.rows() && j < C.cols()) {
    Real sum{};
    for (int l = 0; l < A.cols(); ++l) sum += A(i, l) * B(l, j);
    C(i, j) = sum;
  }
}
