// A contraction of tensors with four indices, as in codes for electron correlation: R(i,j,a,b) += sum over c and d of T(i,j,c,d) V(c,d,a,b).
// buffers: T f64 in [NO, NO, NV, NV], V f64 in [NV, NV, NV, NV], R f64 inout [NO, NO, NV, NV]
// sizes: NO=5 NV=7; NO=4 NV=4; NO=2 NV=3
// evo:launch ladder(T, V, R, NO, NV) grid(ceil_div(NV * NV, 64), NO * NO) block(64)

#define OOVV(i, j, a, b) ((((i) * no + (j)) * nv + (a)) * nv + (b))
#define VVVV(a, b, c, d) ((((a) * nv + (b)) * nv + (c)) * nv + (d))

__global__ void ladder(const double* __restrict__ t2, const double* __restrict__ vvvv, double* __restrict__ r2, const int no,
                       const int nv)
{
    const int ab = blockIdx.x * blockDim.x + threadIdx.x;
    const int ij = blockIdx.y;

    if (ab < nv * nv) {
        const int a = ab / nv;
        const int b = ab % nv;
        const int i = ij / no;
        const int j = ij % no;

        double sum = 0.0;
        for (int c = 0; c < nv; ++c)
            for (int d = 0; d < nv; ++d)
                sum += t2[OOVV(i, j, c, d)] * vvvv[VVVV(c, d, a, b)];

        r2[OOVV(i, j, a, b)] += sum;
    }
}
