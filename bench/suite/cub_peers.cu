// CUB's device-wide functions behind C, for bench/suite/functions.py, which compiles this by nvcc. All pointers are device memory of the
// caller. With workspace == nullptr a function only writes the bytes that it needs to `bytes`. Returns a cudaError_t.
#include <cstddef>
#include <cstdint>
#include <cub/cub.cuh>

extern "C" int cub_inclusive_sum(void* workspace, std::size_t* bytes, const float* in, float* out, std::int64_t count, cudaStream_t stream) {
  return cub::DeviceScan::InclusiveSum(workspace, *bytes, in, out, count, stream);
}

// Values 0 to bins - 1, each in a bin of its own.
extern "C" int cub_histogram(void* workspace, std::size_t* bytes, const int* in, int* counts, int bins, std::int64_t count, cudaStream_t stream) {
  return cub::DeviceHistogram::HistogramEven(workspace, *bytes, in, counts, bins + 1, 0, bins, count, stream);
}
