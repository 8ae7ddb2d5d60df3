// Decoding: a block a head, one query, a cache whose heads are shared by several of the queries.
// buffers: q f32 in [H, D], out f32 out [H, D], keys f32 in [L, G, D], values f32 in [L, G, D]
// sizes: pos=20 L=21 H=4 G=2 D=16; pos=1 L=8 H=3 G=3 D=33; pos=70 L=90 H=6 G=1 D=64
// evo:workspace att f32 [H, L]
// evo:launch multi_head_attention_kernel(pos, L, q, att, out, keys, values, G * D, H / G, D) grid(H) block(256)
#include <math.h>

__device__ void softmax_gpu(float* __restrict__ x, int size) {
  int tid = threadIdx.x, step = blockDim.x;
  __shared__ float shared_val;
  __shared__ float red[256];
  float max_val = tid < size ? x[tid] : -1e30f;
  for (int i = tid + step; i < size; i += step) if (x[i] > max_val) max_val = x[i];
  red[tid] = max_val; __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s >>= 1) { if (tid < s) red[tid] = fmaxf(red[tid], red[tid + s]); __syncthreads(); }
  if (tid == 0) shared_val = red[0];
  __syncthreads();
  max_val = shared_val;
  float sum = 0.0f;
  for (int i = tid; i < size; i += step) { x[i] = expf(x[i] - max_val); sum += x[i]; }
  __syncthreads();
  red[tid] = sum; __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s >>= 1) { if (tid < s) red[tid] += red[tid + s]; __syncthreads(); }
  if (tid == 0) shared_val = red[0];
  __syncthreads();
  sum = shared_val;
  for (int i = tid; i < size; i += step) x[i] /= sum;
}
__global__ void multi_head_attention_kernel(int pos, int seq_len, float* sq, float* satt, float* sxb, float* key_cache,
                                            float* value_cache, int kv_dim, int kv_mul, int head_size) {
  int h = blockIdx.x;
  float* q = sq + h * head_size;
  float* att = satt + h * seq_len;
  for (int t = threadIdx.x; t <= pos; t += blockDim.x) {
    float* k = key_cache + t * kv_dim + (h / kv_mul) * head_size;
    float score = 0.0f;
    for (int i = 0; i < head_size; i++) score += q[i] * k[i];
    score /= sqrtf(head_size);
    att[t] = score;
  }
  __syncthreads();
  softmax_gpu(att, pos + 1);
  __syncthreads();
  float* xb = sxb + h * head_size;
  for (int i = threadIdx.x; i < head_size; i += blockDim.x) {
    float val = 0.0f;
    for (int t = 0; t <= pos; t++) {
      float* v = value_cache + t * kv_dim + (h / kv_mul) * head_size;
      val += att[t] * v[i];
    }
    xb[i] = val;
  }
}
