// buffers: X f32 in [R], K f32 in [C], I i32 out [R], D f32 out [R]
// sizes: R=1 C=1; R=70 C=45; R=300 C=1000
// evo:launch assign_codes(X, K, I, D, R, C) grid(ceil_div(R, 128)) block(128)
#include <cfloat>

// The code that is nearest to each point, and how far it is: the first of equals.
__global__ void assign_codes(const float* points, const float* codes, int* assignment, float* distance,
                             int num_points, int num_codes) {
  int p = blockIdx.x * blockDim.x + threadIdx.x;
  if (p >= num_points) return;
  float min_dist = FLT_MAX;
  int min_idx = -1;
  for (int k = 0; k < num_codes; ++k) {
    float diff = points[p] - codes[k];
    float dist = diff * diff;
    if (dist < min_dist) {
      min_dist = dist;
      min_idx = k;
    }
  }
  assignment[p] = min_idx;
  distance[p] = min_dist;
}
