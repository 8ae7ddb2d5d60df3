// buffers: X f32 in [M, N], T i32<2 in [M], LOSS f32 out [1]
// sizes: M=1 N=2; M=67 N=129; M=9 N=1030
// evo:memset LOSS 0
// evo:launch mean_loss(X, T, LOSS, M, N) grid(M) block(64)

__device__ void raise_to(float* address, float value) {
  int* const bits = (int*)address;
  int old = *bits, assumed;
  do {
    assumed = old;
    old = atomicCAS(bits, assumed, __float_as_int(fmaxf(value, __int_as_float(assumed))));
  } while (assumed != old);
}

__global__ void mean_loss(const float* logits, const int* targets, float* loss, int m, int n) {
  __shared__ float top, sum;
  const float* row = logits + blockIdx.x * n;
  if (threadIdx.x == 0) {
    top = -INFINITY;
    sum = 0.0f;
  }
  __syncthreads();
  float own = -INFINITY;
  for (int j = threadIdx.x; j < n; j += blockDim.x) own = fmaxf(own, row[j]);
  raise_to(&top, own);
  __syncthreads();
  float part = 0.0f;
  for (int j = threadIdx.x; j < n; j += blockDim.x) part += expf(row[j] - top);
  atomicAdd(&sum, part);
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(loss, (logf(sum) + top - row[targets[blockIdx.x]]) / m);
}
