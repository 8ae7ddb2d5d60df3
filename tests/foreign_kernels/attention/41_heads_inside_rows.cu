// Scores, a softmax in place and the output by kernels of their own, for tensors [batches, rows, heads, columns].
// buffers: Q f32 in [B, T, H, D], K f32 in [B, T, H, D], V f32 in [B, T, H, D], O f32 out [B, T, H, D]
// sizes: B=2 T=37 H=3 D=32; B=1 T=7 H=2 D=64
// evo:workspace S f32 [B, H, T, T]
// evo:launch scores(Q, K, S, T, H, D) grid(ceil_div(T, 16), ceil_div(T, 16), B * H) block(16, 16)
// evo:launch causal_softmax(S, T) grid(T, B * H) block(32)
// evo:launch values(S, V, O, T, H, D) grid(ceil_div(D, 16), ceil_div(T, 16), B * H) block(16, 16)

__global__ void scores(const float *Q, const float *K, float *S, int T, int H, int D)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    int b = blockIdx.z / H, h = blockIdx.z % H;
    if (i >= T || j >= T) return;
    float s = 0.f;
    for (int d = 0; d < D; d++) s += Q[((b * T + i) * H + h) * D + d] * K[((b * T + j) * H + h) * D + d];
    S[(blockIdx.z * T + i) * T + j] = s / sqrtf((float)D);
}

__global__ void causal_softmax(float *S, int T)
{
    __shared__ float buf[32];
    int i = blockIdx.x, t = threadIdx.x;
    float *row = S + (blockIdx.y * T + i) * T;
    float mx = -INFINITY;
    for (int j = t; j <= i; j += blockDim.x) mx = fmaxf(mx, row[j]);
    buf[t] = mx;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (t < s) buf[t] = fmaxf(buf[t], buf[t + s]);
        __syncthreads();
    }
    mx = buf[0];
    __syncthreads();
    float sum = 0.f;
    for (int j = t; j <= i; j += blockDim.x) sum += expf(row[j] - mx);
    buf[t] = sum;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (t < s) buf[t] += buf[t + s];
        __syncthreads();
    }
    sum = buf[0];
    for (int j = t; j < T; j += blockDim.x) row[j] = j <= i ? expf(row[j] - mx) / sum : 0.f;
}

__global__ void values(const float *S, const float *V, float *O, int T, int H, int D)
{
    int d = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    int b = blockIdx.z / H, h = blockIdx.z % H;
    if (i >= T || d >= D) return;
    float o = 0.f;
    for (int j = 0; j < T; j++) o += S[(blockIdx.z * T + i) * T + j] * V[((b * T + j) * H + h) * D + d];
    O[((b * T + i) * H + h) * D + d] = o;
}
