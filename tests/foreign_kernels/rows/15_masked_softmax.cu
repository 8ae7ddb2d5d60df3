// buffers: S f32 in [R, C], M i32<3 in [R, C], P f32 out [R, C]
// sizes: R=1 C=1; R=70 C=45; R=300 C=129
// evo:launch maskedSoftmax(S, M, P, R, C) grid((R + 127) / 128) block(128)

#define NEG_BIG -1e30f

// Probabilities of the scores whose mask is not 0. A row without any gets zeros.
__global__ void maskedSoftmax(const float *__restrict__ scores, const int *__restrict__ mask, float *__restrict__ probs,
                              int nRows, int nCols)
{
    const int rowId = threadIdx.x + blockIdx.x * blockDim.x;
    if (rowId < nRows)
    {
        const size_t base = (size_t)rowId * nCols;

        float rowMax = NEG_BIG;
        for (int j = 0; j < nCols; j++)
            rowMax = fmaxf(rowMax, mask[base + j] ? scores[base + j] : NEG_BIG);

        float denom = 0.0f;
        for (int j = 0; j < nCols; j++)
        {
            if (mask[base + j] != 0)
                denom += __expf(scores[base + j] - rowMax);
        }

        const float inv = denom > 0.0f ? 1.0f / denom : 0.0f;
        for (int j = 0; j < nCols; j++)
        {
            float p = 0.0f;
            if (mask[base + j] != 0)
                p = __expf(scores[base + j] - rowMax) * inv;
            probs[base + j] = p;
        }
    }
}
