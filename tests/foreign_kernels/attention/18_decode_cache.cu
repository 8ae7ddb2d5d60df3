// Decoding: one query a head, a cache [B, MAXLEN, HKV, D] of keys and values, of which each sequence has filled its own length.
// A block a head, scores in shared memory.
// buffers: q f16 in [B, HQ, 64], k_cache f16 in [B, MAXLEN, HKV, 64], v_cache f16 in [B, MAXLEN, HKV, 64], lengths i32<24 in [B], out f16 out [B, HQ, 64]
// sizes: B=3 HQ=4 HKV=2 MAXLEN=24; B=2 HQ=2 HKV=2 MAXLEN=30
#include <cuda_fp16.h>

#define HEAD_DIM 64
#define NTHREADS 128

__device__ __forceinline__ float block_max(float x, float* buf) {
  buf[threadIdx.x] = x;
  __syncthreads();
  for (int n = NTHREADS / 2; n > 0; n /= 2) {
    if (threadIdx.x < n) buf[threadIdx.x] = fmaxf(buf[threadIdx.x], buf[threadIdx.x + n]);
    __syncthreads();
  }
  const float r = buf[0];
  __syncthreads();
  return r;
}

__device__ __forceinline__ float block_sum(float x, float* buf) {
  buf[threadIdx.x] = x;
  __syncthreads();
  for (int n = NTHREADS / 2; n > 0; n /= 2) {
    if (threadIdx.x < n) buf[threadIdx.x] += buf[threadIdx.x + n];
    __syncthreads();
  }
  const float r = buf[0];
  __syncthreads();
  return r;
}

// evo:launch decode_step(q, k_cache, v_cache, lengths, out, MAXLEN, HQ, HKV) grid(HQ, B) block(128) shared(MAXLEN * 4)
__global__ void decode_step(const half* q, const half* k_cache, const half* v_cache, const int* lengths, half* out, int max_len,
                            int hq, int hkv) {
  extern __shared__ float logits[];
  __shared__ float buf[NTHREADS];
  const int head = blockIdx.x, seq = blockIdx.y;
  const int kv_head = head / (hq / hkv);
  const int len = lengths[seq] + 1;
  const half* query = q + (seq * hq + head) * HEAD_DIM;

  float m = -INFINITY;
  for (int pos = threadIdx.x; pos < len; pos += NTHREADS) {
    const half* key = k_cache + ((size_t)(seq * max_len + pos) * hkv + kv_head) * HEAD_DIM;
    float dot = 0.0f;
    for (int d = 0; d < HEAD_DIM; ++d) dot += __half2float(query[d]) * __half2float(key[d]);
    dot *= rsqrtf(float(HEAD_DIM));
    logits[pos] = dot;
    m = fmaxf(m, dot);
  }
  m = block_max(m, buf);
  float l = 0.0f;
  for (int pos = threadIdx.x; pos < len; pos += NTHREADS) {
    const float p = __expf(logits[pos] - m);
    logits[pos] = p;
    l += p;
  }
  l = block_sum(l, buf);
  for (int d = threadIdx.x; d < HEAD_DIM; d += NTHREADS) {
    float acc = 0.0f;
    for (int pos = 0; pos < len; ++pos)
      acc += logits[pos] * __half2float(v_cache[((size_t)(seq * max_len + pos) * hkv + kv_head) * HEAD_DIM + d]);
    out[(seq * hq + head) * HEAD_DIM + d] = __float2half(acc / l);
  }
}
