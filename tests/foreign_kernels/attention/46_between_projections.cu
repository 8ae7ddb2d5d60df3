// All of a layer: projections of the tokens, the attention of four heads that lie inside of their rows, and a projection of that.
// buffers: x f32 in [M, W], wq f32 in [W, W], wk f32 in [W, W], wv f32 in [W, W], wo f32 in [W, W], y f32 out [M, W]
// sizes: M=1 W=8; M=37 W=32
// evo:workspace q f32 [M, W]
// evo:workspace k f32 [M, W]
// evo:workspace v f32 [M, W]
// evo:workspace s f32 [M, M, 4]
// evo:workspace o f32 [M, W]
// evo:launch project(x, wq, q, M, W) grid(ceil_div(W, 8), ceil_div(M, 8)) block(8, 8)
// evo:launch project(x, wk, k, M, W) grid(ceil_div(W, 8), ceil_div(M, 8)) block(8, 8)
// evo:launch project(x, wv, v, M, W) grid(ceil_div(W, 8), ceil_div(M, 8)) block(8, 8)
// evo:launch scores(q, k, s, M, M, 4, W / 4) grid(ceil_div(M, 8), ceil_div(M, 8), 4) block(8, 8)
// evo:launch softmax(s, M, M, 4) grid(M * 4) block(32) shared(32 * 4)
// evo:launch weighted(s, v, o, M, M, 4, W / 4) grid(ceil_div(W / 4, 8), ceil_div(M, 8), 4) block(8, 8)
// evo:launch project(o, wo, y, M, W) grid(ceil_div(W, 8), ceil_div(M, 8)) block(8, 8)
__global__ void project(const float* a, const float* b, float* c, int m, int n)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= m || col >= n) return;
    float sum = 0.f;
    for (int i = 0; i < n; i++) sum += a[row * n + i] * b[i * n + col];
    c[row * n + col] = sum;
}

__global__ void scores(const float* q, const float* k, float* s, int M, int N, int H, int d_head)
{
    int h = blockIdx.z;
    int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M || col >= N) return;
    float val = 0.0f;
    for (int i = 0; i < d_head; i++) val += q[row * (H * d_head) + h * d_head + i] * k[col * (H * d_head) + h * d_head + i];
    s[((row * N) + col) * H + h] = val / sqrtf((float)d_head);
}

__global__ void softmax(float* s, int M, int N, int H)
{
    int i = blockIdx.x / H, h = blockIdx.x % H, t = threadIdx.x;
    extern __shared__ float shmem[];
    float own = -1e20f;
    for (int j = t; j < N; j += blockDim.x) own = fmaxf(own, s[((i * N) + j) * H + h]);
    shmem[t] = own;
    __syncthreads();
    for (int stride = blockDim.x / 2; stride > 0; stride >>= 1) {
        if (t < stride) shmem[t] = fmaxf(shmem[t], shmem[t + stride]);
        __syncthreads();
    }
    float largest = shmem[0];
    __syncthreads();
    float sum = 0.0f;
    for (int j = t; j < N; j += blockDim.x) sum += expf(s[((i * N) + j) * H + h] - largest);
    shmem[t] = sum;
    __syncthreads();
    for (int stride = blockDim.x / 2; stride > 0; stride >>= 1) {
        if (t < stride) shmem[t] += shmem[t + stride];
        __syncthreads();
    }
    float total = shmem[0];
    __syncthreads();
    for (int j = t; j < N; j += blockDim.x) {
        const int at = ((i * N) + j) * H + h;
        s[at] = expf(s[at] - largest) / total;
    }
}

__global__ void weighted(const float* s, const float* v, float* o, int M, int N, int H, int d_head)
{
    int h = blockIdx.z;
    int i = blockIdx.y * blockDim.y + threadIdx.y, c = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= M || c >= d_head) return;
    float sum = 0.0f;
    for (int j = 0; j < N; j++) sum += s[((i * N) + j) * H + h] * v[j * (H * d_head) + h * d_head + c];
    o[i * (H * d_head) + h * d_head + c] = sum;
}
