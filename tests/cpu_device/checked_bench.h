#pragma once

#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tests/cpu_device/kernel_bench.h"

namespace evo {

// Kernels compiled with checked accesses. A fault leaves fibers that cannot be unwound, so each launch has a device of its own.
class CheckedKernelTest : public CpuDeviceTest {
 protected:
  // Launches k(float* or int* `a`, the same `b`, int n) over two zeroed buffers of `n` 4-byte elements under two schedules and
  // returns the first status that is not ok.
  DeviceStatus RunChecked(const std::string& source, std::array<std::uint32_t, 3> grid, std::array<std::uint32_t, 3> block, int n,
                          std::uint64_t shared = 0) {
    const CompileResult compiled = Compile(source, "k", true);
    if (compiled.outcome != Outcome::kOk) return {compiled.outcome, compiled.message, false};
    for (std::uint64_t schedule = 0; schedule < 2; ++schedule) {
      device_ = MakeCpuDevice();
      auto program = Load(compiled);
      const Address a = Upload(std::vector<int>(static_cast<std::size_t>(n), 0));
      const Address b = Upload(std::vector<int>(static_cast<std::size_t>(n), 0));
      DeviceStatus status = Run(*program, Launch(grid, block, {a, b, Int(n)}, shared), schedule);
      output_ = Download<int>(b, static_cast<std::size_t>(n));
      if (status.ok()) continue;
      static_cast<void>(device_.release());
      static_cast<void>(program.release());
      device_ = MakeCpuDevice();
      return status;
    }
    return {};
  }

  static std::string Kernel(const std::string& body, const std::string& type = "float") {
    return "__global__ void k(const " + type + "* a, " + type + "* b, int n) {\n  const int t = threadIdx.x;\n" + body + "}\n";
  }

  std::vector<int> output_;
};

// The text with each `name` replaced.
inline std::string With(std::string text, const std::string& name, const std::string& value) {
  for (std::size_t at = 0; (at = text.find(name, at)) != std::string::npos; at += value.size())
    text.replace(at, name.size(), value);
  return text;
}

}  // namespace evo
