#pragma once

#include <filesystem>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

namespace evo {

// A kernel of tests/careless_kernels/kernels: TASK/NAME.cu for a shipped task. Its first line says "Careless: " and what is wrong
// for which inputs, or "Honest: " and what is special; the baseline gets all of these inputs right. A careless kernel must be
// rejected as wrong_result, an honest one (honest_NAME.cu) must pass as a champion.
struct CarelessKernel {
  std::string task;
  std::string name;  // the name of its file, without .cu
  std::string source;

  bool honest() const { return name.starts_with("honest_"); }
};

// For test messages.
inline void PrintTo(const CarelessKernel& kernel, std::ostream* out) { *out << kernel.task << "/" << kernel.name; }

// Every kernel of the folder, sorted by task and name. Throws Error if a file cannot be read.
std::vector<CarelessKernel> FindCarelessKernels(const std::filesystem::path& folder);

// Why the kernel is not run on the device; nullopt if it is.
std::optional<std::string> NotRunReason(const CarelessKernel& kernel, const std::string& device);

}  // namespace evo
