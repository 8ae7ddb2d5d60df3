// An optimiser with momentum and weight decay in a small library: tensors as pointers, a loop with strides, decay by a flag.
// buffers: w f32 inout [N], g f32 in [N], m f32 inout [N]
// sizes: N=1; N=300; N=5000
#define CUDA_1D_KERNEL_LOOP(i, n) for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += blockDim.x * gridDim.x)

template <typename T, bool nesterov>
__global__ void sgd_momentum_kernel(T* w, const T* g, T* m, const T lr, const T mu, const T decay, const size_t n) {
  CUDA_1D_KERNEL_LOOP(i, n) {
    T grad = g[i];
    if (decay != T(0)) grad += decay * w[i];
    const T buf = mu * m[i] + grad;
    m[i] = buf;
    w[i] -= lr * (nesterov ? grad + mu * buf : buf);
  }
}
// evo:launch sgd_momentum_kernel<float, true>(w, g, m, f32(0.01), f32(0.9), f32(0.0005), u64(N)) grid(ceil_div(N, 256)) block(256)
