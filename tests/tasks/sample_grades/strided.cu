// evo:memset tally 0
// evo:launch countGrades(grades, tally, N) grid(64) block(256)

// Threads go through the grades in strides of the grid.
__global__ void countGrades(const int *grades, int *tally, int pupils)
{
    int pupil = blockIdx.x * blockDim.x + threadIdx.x;
    int stride = blockDim.x * gridDim.x;
    while (pupil < pupils) {
        atomicAdd(&(tally[grades[pupil]]), 1);
        pupil += stride;
    }
}
