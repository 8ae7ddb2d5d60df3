// buffers: E i32<300 in [M, 2], OUTDEG i32 out [300], INDEG i32 out [300]
// sizes: M=1; M=1000; M=9001
// evo:memset OUTDEG 0
// evo:memset INDEG 0
// evo:launch degrees(E, M, OUTDEG, INDEG) grid(ceil_div(M, 256)) block(256)

struct edge { int src; int dst; };

/* in- and out-degree of every vertex of a directed graph, self loops left out */
__global__ void degrees(const struct edge *edges, int m, int *out_degree, int *in_degree)
{
	int tid = blockDim.x * blockIdx.x + threadIdx.x;
	int nthreads = blockDim.x * gridDim.x;
	int e;

	for (e = tid; e < m; e += nthreads) {
		int s = edges[e].src;
		int d = edges[e].dst;
		if (s == d)
			continue;
		atomicAdd(&out_degree[s], 1);
		atomicAdd(&in_degree[d], 1);
	}
}
