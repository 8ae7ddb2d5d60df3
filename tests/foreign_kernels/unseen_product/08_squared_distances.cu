// Distances of all queries to all references, as a search for neighbours begins.
// buffers: R f32 in [D, N], Q f32 in [D, M], O f32 out [N, M]
// sizes: N=37 M=21 D=40; N=16 M=64 D=3; N=9 M=5 D=1
// evo:launch compute_distances(R, N, Q, M, D, O) grid(ceil_div(M, 16), ceil_div(N, 16)) block(16, 16)
__global__ void compute_distances(const float* ref, int ref_nb, const float* query, int query_nb, int dim, float* dist) {
  int q = threadIdx.x + blockIdx.x * blockDim.x;
  int r = threadIdx.y + blockIdx.y * blockDim.y;
  if (q < query_nb && r < ref_nb) {
    float ssd = 0.f;
    for (int d = 0; d < dim; d++) {
      float tmp = ref[d * ref_nb + r] - query[d * query_nb + q];
      ssd += tmp * tmp;
    }
    dist[r * query_nb + q] = sqrtf(ssd);
  }
}
