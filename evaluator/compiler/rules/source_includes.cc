#include "evaluator/compiler/rules/source_includes.h"

#include <algorithm>
#include <array>

namespace evo {
namespace {

constexpr auto kHeaders = std::to_array<std::string_view>({
    // CUDA's own.
    "cooperative_groups.h",
    "cuComplex.h",
    "cuda_bf16.h",
    "cuda_fp16.h",
    "cuda_fp4.h",
    "cuda_fp6.h",
    "cuda_fp8.h",
    "cuda_pipeline.h",
    "cuda_pipeline_primitives.h",
    "cuda_runtime.h",
    "device_launch_parameters.h",
    "math_constants.h",
    "mma.h",
    "sm_60_atomic_functions.h",
    "vector_functions.h",
    "vector_types.h",
    // Those of the language that share/evo/nvrtc has for NVRTC.
    "algorithm",
    "assert.h",
    "cassert",
    "cfloat",
    "climits",
    "cmath",
    "cstddef",
    "cstdint",
    "cstdio",
    "cstdlib",
    "cstring",
    "float.h",
    "initializer_list",
    "limits",
    "limits.h",
    "math.h",
    "stddef.h",
    "stdint.h",
    "stdio.h",
    "stdlib.h",
    "string.h",
    "type_traits",
    "utility",
});

constexpr auto kFolders = std::to_array<std::string_view>({"cooperative_groups/", "cub/", "cuda/"});

}  // namespace

bool IsAllowedInclude(std::string_view text) {
  const std::size_t open = text.find_first_not_of(" \t");
  const std::size_t close = text.find_last_not_of(" \t");
  if (open == std::string_view::npos || text[open] != '<' || text[close] != '>') return false;
  const std::string_view name = text.substr(open + 1, close - open - 1);
  if (name.find("..") != std::string_view::npos || name.find_first_of("<>\\") != std::string_view::npos) return false;
  return std::find(kHeaders.begin(), kHeaders.end(), name) != kHeaders.end() ||
         std::any_of(kFolders.begin(), kFolders.end(), [&](std::string_view folder) { return name.starts_with(folder); });
}

}  // namespace evo
