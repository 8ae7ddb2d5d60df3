#pragma once

#include <vector>

#include "evaluator/device/device.h"

namespace evo {

// A task for FakeDevice: y = 2 x, 100 elements in every case.
inline constexpr int kTwiceElements = 100;

inline constexpr const char* kTwiceTask = R"json({
  "name": "twice", "summary": "y = 2 x", "sizes": ["N"],
  "arguments": [
    {"name": "x", "role": "in", "dtype": "f32", "shape": ["N"], "generators": ["normal", "uniform(-1,1)"]},
    {"name": "y", "role": "out", "dtype": "f32", "shape": ["N"], "check": {"l2": 1e-6, "max": 1e-5}}
  ],
  "cases": {
    "small": {"name": "small", "sizes": {"N": 100}},
    "search": [{"name": "a", "sizes": {"N": 100}}], "search_cpu": [{"name": "b", "sizes": {"N": 100}}],
    "held_out": [{"name": "c", "sizes": {"N": 100}}], "held_out_cpu": [{"name": "d", "sizes": {"N": 100}}]
  },
  "baseline": "k", "bytes": "8 * N", "operations": "N"
})json";

// The source of its kernels and of its reference.
inline constexpr const char* kTwiceSource = "// evo:launch k(x, y) grid(1) block(1)\n";

// y = factor * x: the answer in T where the factor is 2.
template <typename T>
void Multiply(const std::vector<Address>& buffers, double factor) {
  const auto* x = reinterpret_cast<const float*>(buffers[0]);
  auto* y = reinterpret_cast<T*>(buffers[1]);
  for (int i = 0; i < kTwiceElements; ++i) y[i] = static_cast<T>(factor * static_cast<double>(x[i]));
}

}  // namespace evo
