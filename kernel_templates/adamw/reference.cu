// One step of AdamW as its definition says it, in double precision. One thread computes one element.
// evo:launch adamw_reference(G, P, M, V, lr, beta1, beta2, eps, weight_decay, correction1, correction2, N) \
//   grid(ceil_div(N, 128)) block(128)

__global__ void adamw_reference(const float* G, double* P, double* M, double* V, float lr, float beta1, float beta2, float eps,
                                float weight_decay, float correction1, float correction2, int n) {
  const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const double g = G[i];
  M[i] = double(beta1) * M[i] + (1 - double(beta1)) * g;
  V[i] = double(beta2) * V[i] + (1 - double(beta2)) * g * g;
  const double mean = M[i] / double(correction1);
  const double root = sqrt(V[i] / double(correction2));
  P[i] = P[i] * (1 - double(lr) * double(weight_decay)) - double(lr) * mean / (root + double(eps));
}
