// One step of AdamW, four elements at a time; the factors that all elements share are computed once a thread. The first block
// also has the elements beyond the last four.
// evo:param BLOCK 64 128 256 512 1024
// evo:param ITEMS 1 2 4 8
// evo:param UNROLL 1 2 4
// evo:launch adamw_vector(G, P, M, V, lr, beta1, beta2, eps, weight_decay, correction1, correction2, N) \
//   grid(ceil_div(N, BLOCK * ITEMS * 4)) block(BLOCK)

// Threads of a block.
#ifndef BLOCK
#define BLOCK 256
#endif

// Fours of elements that a thread computes, BLOCK apart.
#ifndef ITEMS
#define ITEMS 1
#endif

// Fours of elements that an iteration processes.
#ifndef UNROLL
#define UNROLL 1
#endif

// nvcc does not expand macros in a pragma.
constexpr int kUnroll = UNROLL;

struct Step {
  float beta1;
  float beta2;
  float rest1;    // 1 - beta1
  float rest2;    // 1 - beta2
  float decay;    // what is left of a parameter
  float rate;     // the learning rate over correction1
  float inverse;  // 1 / correction2
  float eps;

  __device__ void Update(float g, float& p, float& m, float& v) const {
    m = beta1 * m + rest1 * g;
    v = beta2 * v + rest2 * g * g;
    p = p * decay - rate * m / (sqrtf(v * inverse) + eps);
  }
};

__global__ void __launch_bounds__(BLOCK) adamw_vector(const float* __restrict__ G, float* __restrict__ P, float* __restrict__ M,
                                                      float* __restrict__ V, float lr, float beta1, float beta2, float eps,
                                                      float weight_decay, float correction1, float correction2, int n) {
  const Step step{beta1, beta2, 1.0f - beta1, 1.0f - beta2, 1.0f - lr * weight_decay, lr / correction1, 1.0f / correction2, eps};
  const int fours = n / 4;
#pragma unroll kUnroll
  for (int k = 0; k < ITEMS; ++k) {
    const long long i = ((long long)blockIdx.x * ITEMS + k) * BLOCK + threadIdx.x;
    if (i < fours) {
      const float4 g = reinterpret_cast<const float4*>(G)[i];
      float4 p = reinterpret_cast<float4*>(P)[i];
      float4 m = reinterpret_cast<float4*>(M)[i];
      float4 v = reinterpret_cast<float4*>(V)[i];
      step.Update(g.x, p.x, m.x, v.x);
      step.Update(g.y, p.y, m.y, v.y);
      step.Update(g.z, p.z, m.z, v.z);
      step.Update(g.w, p.w, m.w, v.w);
      reinterpret_cast<float4*>(P)[i] = p;
      reinterpret_cast<float4*>(M)[i] = m;
      reinterpret_cast<float4*>(V)[i] = v;
    }
  }
  if (blockIdx.x == 0 && threadIdx.x < n % 4) {
    const int i = n - 1 - threadIdx.x;
    step.Update(G[i], P[i], M[i], V[i]);
  }
}
