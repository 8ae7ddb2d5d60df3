// buffers: X f64 in [N], Y f64 out [1]
// sizes: N=1; N=1000; N=9011
// evo:memset Y 127
// evo:launch smallest(X, Y, N) grid(ceil_div(N, 256)) block(256)

__device__ double atomicMin(double* address, double val) {
  unsigned long long int* bits = reinterpret_cast<unsigned long long int*>(address);
  unsigned long long int old = *bits, assumed;
  do {
    assumed = old;
    old = atomicCAS(bits, assumed, __double_as_longlong(fmin(val, __longlong_as_double(assumed))));
  } while (assumed != old);
  return __longlong_as_double(old);
}

// Y begins with a large number.
__global__ void smallest(const double* x, double* y, int n) {
  __shared__ double part[256];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  part[threadIdx.x] = i < n ? x[i] : INFINITY;
  __syncthreads();
  for (int s = 128; s > 0; s /= 2) {
    if (threadIdx.x < s) part[threadIdx.x] = fmin(part[threadIdx.x], part[threadIdx.x + s]);
    __syncthreads();
  }
  if (threadIdx.x == 0) atomicMin(y, part[0]);
}
