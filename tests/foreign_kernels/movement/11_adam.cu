// buffers: P f32 inout [N], G f32 in [N], M f32 inout [N], V f32 in [N], VN f32 out [N]
// sizes: N=1; N=300; N=5003
// evo:launch adam_update<float>(P, G, M, V, VN, {f32(0.001), f32(0.9), f32(0.999), f32(1e-8), f32(0.01)}, i64(N)) grid(ceil_div(N, 256)) block(256)

struct AdamArgs {
  float lr, beta1, beta2, eps, decay;
};

template <typename T>
__global__ void adam_update(T* __restrict__ param, const T* __restrict__ grad, T* __restrict__ m, const T* __restrict__ v,
                            T* __restrict__ v_new, AdamArgs args, size_t n) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    T g = grad[i];
    T mi = args.beta1 * m[i] + (1 - args.beta1) * g;
    T vi = args.beta2 * fabsf(v[i]) + (1 - args.beta2) * g * g;
    m[i] = mi;
    v_new[i] = vi;
    param[i] -= args.lr * (mi / (sqrtf(vi) + args.eps) + args.decay * param[i]);
  }
}
