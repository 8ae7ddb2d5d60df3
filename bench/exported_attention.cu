// Runs an exported attention kernel without any of evo: checks it against a double-precision reference and times it by CUPTI's records.
// scripts/check_export compiles this with the exported file (EVO_EXPORTED) and the launch numbers of its header comment:
// EVO_KERNEL, EVO_GRID, EVO_BLOCK, EVO_SHARED, EVO_BATCH, EVO_HEADS, EVO_LENGTH. With EVO_LAUNCH, the name of its
// function, the file is the one that evo wrote to launch the kernel. Prints "l2_error median_ns".
#include EVO_EXPORTED

#include <cuda_runtime.h>
#include <cupti.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

constexpr int kDepth = 64;
constexpr int kSets = 3;           // inputs rotate: no launch sees the data of the one before
constexpr int kLaunches = 300;
constexpr int kCheckedRows = 256;  // of the many: the reference runs on one host thread

static std::vector<unsigned long long> durations;

#define CHECK(call)                                                                        \
  do {                                                                                     \
    const cudaError_t error = (call);                                                      \
    if (error != cudaSuccess) {                                                            \
      std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error));                  \
      std::exit(1);                                                                        \
    }                                                                                      \
  } while (0)

static void CUPTIAPI GiveBuffer(uint8_t** buffer, size_t* size, size_t* records) {
  *size = 1 << 20;
  *buffer = static_cast<uint8_t*>(std::aligned_alloc(8, *size));
  *records = 0;
}

static void CUPTIAPI TakeBuffer(CUcontext, uint32_t, uint8_t* buffer, size_t, size_t valid) {
  CUpti_Activity* record = nullptr;
  while (cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
    const auto* kernel = reinterpret_cast<const CUpti_ActivityKernel9*>(record);
    durations.push_back(kernel->end - kernel->start);
  }
  std::free(buffer);
}

struct Inputs {
  std::vector<half> host[3];
  half* device[4];   // Q, K, V, O
};

static double RowError(const Inputs& set, const std::vector<half>& output, long row, double* reference_squares) {
  const long head = row / EVO_LENGTH * EVO_LENGTH * kDepth;
  std::vector<double> weights(EVO_LENGTH);
  double largest = -1e300;
  for (int key = 0; key < EVO_LENGTH; ++key) {
    double score = 0;
    for (int d = 0; d < kDepth; ++d) score += double(float(set.host[0][row * kDepth + d])) * double(float(set.host[1][head + key * kDepth + d]));
    weights[key] = score / std::sqrt(double(kDepth));
    largest = std::max(largest, weights[key]);
  }
  double sum = 0;
  for (double& w : weights) sum += w = std::exp(w - largest);
  double squares = 0;
  for (int d = 0; d < kDepth; ++d) {
    double value = 0;
    for (int key = 0; key < EVO_LENGTH; ++key) value += weights[key] / sum * double(float(set.host[2][head + key * kDepth + d]));
    const double difference = double(float(output[row * kDepth + d])) - value;
    squares += difference * difference;
    *reference_squares += value * value;
  }
  return squares;
}

int main() {
  const long rows = long(EVO_BATCH) * EVO_HEADS * EVO_LENGTH;
  const size_t count = size_t(rows) * kDepth;
  std::mt19937 random(std::random_device{}());
  std::normal_distribution<float> normal;
  Inputs sets[kSets];
  for (Inputs& set : sets) {
    for (int i = 0; i < 4; ++i) CHECK(cudaMalloc(&set.device[i], count * sizeof(half)));
    for (int i = 0; i < 3; ++i) {
      set.host[i].resize(count);
      for (half& v : set.host[i]) v = __float2half(normal(random));
      CHECK(cudaMemcpy(set.device[i], set.host[i].data(), count * sizeof(half), cudaMemcpyHostToDevice));
    }
    CHECK(cudaMemset(set.device[3], 0xff, count * sizeof(half)));   // NaN
  }
  cuptiActivityRegisterCallbacks(GiveBuffer, TakeBuffer);
  cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
#ifndef EVO_LAUNCH
  CHECK(cudaFuncSetAttribute(EVO_KERNEL, cudaFuncAttributeMaxDynamicSharedMemorySize, EVO_SHARED));
  const float scale = 1 / std::sqrt(float(kDepth));
#endif
  for (int i = 0; i < kLaunches; ++i) {
    const Inputs& set = sets[i % kSets];
#ifdef EVO_LAUNCH
    CHECK(EVO_LAUNCH(set.device[0], set.device[1], set.device[2], set.device[3], EVO_BATCH, EVO_HEADS, EVO_LENGTH, kDepth, nullptr));
#else
    EVO_KERNEL<<<dim3 EVO_GRID, dim3 EVO_BLOCK, EVO_SHARED>>>(set.device[0], set.device[1], set.device[2], set.device[3], scale, EVO_LENGTH, kDepth);
    CHECK(cudaGetLastError());
#endif
  }
  CHECK(cudaDeviceSynchronize());
  cuptiActivityFlushAll(0);
  double worst = 0;
  for (const Inputs& set : sets) {
    std::vector<half> output(count);
    CHECK(cudaMemcpy(output.data(), set.device[3], count * sizeof(half), cudaMemcpyDeviceToHost));
    double squares = 0, reference = 0;
    for (int i = 0; i < kCheckedRows; ++i) squares += RowError(set, output, long(random() % rows), &reference);
    const double error = std::sqrt(squares / reference);
    if (!(error <= worst)) worst = error;
  }
  if (durations.size() < kLaunches) {
    std::fprintf(stderr, "%zu records of %d launches\n", durations.size(), kLaunches);
    return 1;
  }
  std::sort(durations.begin(), durations.end());
  std::printf("%.3e %llu\n", worst, durations[durations.size() / 2]);
  return worst <= 2e-3 ? 0 : 1;
}
