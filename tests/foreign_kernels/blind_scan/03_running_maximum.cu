// buffers: P f32 in [N], DRAWDOWN f32 out [N]
// sizes: N=1; N=700; N=5003
// evo:workspace peak f32 [N]
// evo:workspace top f32 [ceil_div(N, 128)]
// evo:launch block_peaks(P, peak, top, N) grid(ceil_div(N, 128)) block(128)
// evo:launch peaks_of_blocks(top, ceil_div(N, 128)) grid(1) block(1)
// evo:launch drawdowns(P, peak, top, DRAWDOWN, N) grid(ceil_div(N, 128)) block(128)

// How far prices lie below the highest one until then.
__global__ void block_peaks(const float *prices, float *peak, float *top, int n)
{
	__shared__ float buf[2][128];
	int t = threadIdx.x, i = blockIdx.x * 128 + t;
	int src = 0;

	buf[0][t] = i < n ? prices[i] : -1e30f;
	__syncthreads();
	for (int d = 1; d < 128; d += d) {
		buf[1 - src][t] = t >= d ? fmaxf(buf[src][t], buf[src][t - d]) : buf[src][t];
		src = 1 - src;
		__syncthreads();
	}
	if (i < n)
		peak[i] = buf[src][t];
	if (t == 127)
		top[blockIdx.x] = buf[src][t];
}

__global__ void peaks_of_blocks(float *top, int blocks)
{
	for (int b = 1; b < blocks; b++)
		if (top[b] < top[b - 1])
			top[b] = top[b - 1];
}

__global__ void drawdowns(const float *prices, const float *peak, const float *top, float *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= n)
		return;
	float p = peak[i];
	if (blockIdx.x)
		p = fmaxf(p, top[blockIdx.x - 1]);
	out[i] = p - prices[i];
}
