// One step of AdamW, one thread an element.
// evo:param BLOCK 64 128 256 512 1024
// evo:param ITEMS 1 2 4 8
// evo:launch adamw_naive(G, P, M, V, lr, beta1, beta2, eps, weight_decay, correction1, correction2, N) \
//   grid(ceil_div(N, BLOCK * ITEMS)) block(BLOCK)

// Threads of a block.
#ifndef BLOCK
#define BLOCK 256
#endif

// Elements that a thread computes, BLOCK apart.
#ifndef ITEMS
#define ITEMS 1
#endif

__global__ void adamw_naive(const float* G, float* P, float* M, float* V, float lr, float beta1, float beta2, float eps,
                            float weight_decay, float correction1, float correction2, int n) {
  for (int k = 0; k < ITEMS; ++k) {
    const long long i = ((long long)blockIdx.x * ITEMS + k) * BLOCK + threadIdx.x;
    if (i >= n) return;
    M[i] = beta1 * M[i] + (1.0f - beta1) * G[i];
    V[i] = beta2 * V[i] + (1.0f - beta2) * G[i] * G[i];
    const float mean = M[i] / correction1;
    const float square = V[i] / correction2;
    P[i] = P[i] * (1.0f - lr * weight_decay) - lr * mean / (sqrtf(square) + eps);
  }
}
