// evo:launch likeness(U, V, G, P, Q, K) grid(ceil_div(P, 8), ceil_div(Q, 32)) block(8, 32)
__global__ void likeness(const unsigned char* first, const unsigned char* second, int* alike, unsigned images, unsigned others,
                         unsigned pixels) {
	unsigned p = blockIdx.x * 8 + threadIdx.x;
	unsigned q = blockIdx.y * 32 + threadIdx.y;
	if (p >= images || q >= others)
		return;
	int total = 0;
	for (unsigned s = 0; s < pixels; s++)
		total += first[p * pixels + s] * second[q * pixels + s];
	alike[p * others + q] = total;
}
