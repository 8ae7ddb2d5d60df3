// buffers: IN i64<40 in [N], OUT i64 out [40]
// sizes: N=1; N=1000; N=9001
// evo:memset OUT 0
// evo:launch kernelBinCount<long long, unsigned long long>(OUT, IN, 40, i64(0), i64(40), i64(N)) grid(min(ceil_div(N, 256), 24)) block(256)
#include <stdint.h>

template <typename input_t, typename IndexType>
__device__ static IndexType getBin(input_t bVal, input_t minvalue, input_t maxvalue, int nbins) {
  IndexType bin = (IndexType)((bVal - minvalue) * nbins / (maxvalue - minvalue));
  if (bin == nbins) bin -= 1;
  return bin;
}

template <typename input_t, typename output_t>
__global__ void kernelBinCount(output_t* a, const input_t* b, int nbins, input_t minvalue, input_t maxvalue,
                               int64_t totalElements) {
  for (int64_t linearIndex = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; linearIndex < totalElements;
       linearIndex += (int64_t)gridDim.x * blockDim.x) {
    const auto bVal = b[linearIndex];
    if (bVal >= minvalue && bVal <= maxvalue) {
      const int64_t bin = getBin<input_t, int64_t>(bVal, minvalue, maxvalue, nbins);
      atomicAdd(&a[bin], static_cast<output_t>(1));
    }
  }
}
