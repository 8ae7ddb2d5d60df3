// buffers: IMG u8<256 in [H, P], DST u8 out [H, P]
// sizes: H=1 P=1; H=13 P=12; H=40 P=130
// evo:launch sharpen(IMG, DST, P, H, P) grid(ceil_div(P, 32), ceil_div(H, 8)) block(32, 8)
typedef unsigned char uchar_t;
#define CLAMP(v, a, b) ((v) < (a) ? (a) : ((v) > (b) ? (b) : (v)))
#define PIX(yy, xx) ((int)img[CLAMP(yy, 0, rows - 1) * pitch + CLAMP(xx, 0, cols - 1)])

__global__ void sharpen(const uchar_t *img, uchar_t *dst, int cols, int rows, int pitch)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= cols || y >= rows)
        return;

    int acc = 5 * PIX(y, x);
    acc -= PIX(y - 1, x);
    acc -= PIX(y + 1, x);
    acc -= PIX(y, x - 1);
    acc -= PIX(y, x + 1);
    dst[y * pitch + x] = (uchar_t)CLAMP(acc, 0, 255);
}
