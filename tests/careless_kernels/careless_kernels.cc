#include "tests/careless_kernels/careless_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "core/error.h"
#include "kernel_templates/text_file.h"

namespace evo {

std::vector<CarelessKernel> FindCarelessKernels(const std::filesystem::path& folder) {
  std::vector<CarelessKernel> kernels;
  for (const auto& task : std::filesystem::directory_iterator(folder)) {
    for (const auto& file : std::filesystem::directory_iterator(task.path())) {
      const auto text = ReadTextFile(file.path());
      if (!text) throw Error(fmt::format("{}: cannot be read", file.path().string()));
      kernels.push_back({task.path().filename().string(), file.path().stem().string(), *text});
    }
  }
  std::sort(kernels.begin(), kernels.end(),
            [](const CarelessKernel& a, const CarelessKernel& b) { return std::tie(a.task, a.name) < std::tie(b.task, b.name); });
  return kernels;
}

std::optional<std::string> NotRunReason(const CarelessKernel& kernel, const std::string& device) {
  if (device != "cpu") return std::nullopt;
  if (kernel.task.ends_with("_d128")) return "the templates of this task are inline PTX, so that the cpu device has no baseline";
  // One thread an element: 2^24 of them take the emulation seconds for each launch.
  const std::string name = kernel.task + "/" + kernel.name;
  if (name == "attention_gqa/honest_online") return "at some unusual sizes it takes the emulation longer than a stage may";
  if (name == "attention/keys_to_1024") return "1,025 keys take the emulation too long";
  if (name == "transpose/float_index" || name == "transpose/short_row" || name == "transpose/grid_of_32768" ||
      name == "gemm/float_index" || name == "gemm/short_row")
    return "the cpu device does not reach a matrix of this size in time";
  return std::nullopt;
}

}  // namespace evo
