// Every thread takes some consecutive pixels. The frame is black.
// buffers: pic u8<256 in [H, W], edges u8 out [H, W]
// sizes: H=1 W=1; H=13 W=12; H=40 W=70
// evo:launch sobel_chunks(pic, edges, H, W, ceil_div(H * W, 512)) grid(4) block(128)

__device__ int saturate(int v)
{
    if (v < 0) return 0;
    if (v > 255) return 255;
    return v;
}

__global__ void sobel_chunks(unsigned char *pic, unsigned char *edges, int h, int w, int each)
{
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * each;
    for (int p = first; p < first + each && p < h * w; p++) {
        int r = p / w, c = p % w;
        if (r == 0 || c == 0 || r == h - 1 || c == w - 1) {
            edges[p] = 0;
            continue;
        }
        unsigned char *q = pic + p;
        int gx = q[1 - w] + 2 * q[1] + q[1 + w] - q[-1 - w] - 2 * q[-1] - q[w - 1];
        int gy = q[w - 1] + 2 * q[w] + q[w + 1] - q[-w - 1] - 2 * q[-w] - q[1 - w];
        int length = (int)sqrtf((float)(gx * gx + gy * gy));
        edges[p] = saturate(length);
    }
}
