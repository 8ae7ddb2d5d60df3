// buffers: data i32<100 inout [N], sums i32 out [(N + 255) / 256]
// sizes: N=256; N=2560
// evo:counted data 0
// evo:launch add_neighbours(data, sums, u32(N)) grid(ceil_div(N, 256)) block(256)

/* Each block adds up its part of the input where it stands. */
__global__ void add_neighbours(int *data, int *sums, unsigned int n)
{
    unsigned int t = threadIdx.x;
    unsigned int place = blockIdx.x * blockDim.x + t;
    int *part = data + blockIdx.x * blockDim.x;

    if (place >= n) return;
    for (int apart = 1; apart < blockDim.x; apart *= 2) {
        if (t % (2 * apart) == 0)
            part[t] += part[t + apart];
        __syncthreads();
    }
    if (t == 0) sums[blockIdx.x] = part[0];
}
