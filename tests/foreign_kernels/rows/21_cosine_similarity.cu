// buffers: A f32 in [R, C], B f32 in [R, C], Y f32 out [R]
// sizes: R=1 C=1; R=70 C=45; R=300 C=129
// evo:launch cosineSim(A, B, Y, R, C) grid(ceil_div(R, 256)) block(256)

__global__ void cosineSim(float *a, float *b, float *sim, int n, int dim) {
  int tid = blockIdx.x * blockDim.x + threadIdx.x;
  if (tid < n) {
    float dot = 0.0, normA = 0.0, normB = 0.0;
    int i = 0;
    while (i < dim) {
      float va = a[tid * dim + i], vb = b[tid * dim + i];
      dot += va * vb;
      normA += va * va;
      normB += vb * vb;
      i++;
    }
    sim[tid] = dot / (sqrt(normA) * sqrt(normB) + 1e-8);
  }
}
