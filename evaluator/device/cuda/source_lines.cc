#include "evaluator/device/cuda/source_lines.h"

#include <cstdlib>
#include <string_view>

namespace evo {

SourceLines::SourceLines(const CuptiLibrary& cupti, const std::string& image) : image_(image) {
  cupti.Resolve(find_, "cuptiGetSassToSourceCorrelation");
}

int SourceLines::Of(const std::string& function, std::uint64_t offset) {
  const auto [at, is_new] = known_.try_emplace({function, offset}, 0);
  if (is_new) at->second = Find(function, offset);
  return at->second;
}

int SourceLines::Find(const std::string& function, std::uint64_t offset) const {
  CUpti_GetSassToSourceCorrelationParams params{};
  params.size = CUpti_GetSassToSourceCorrelationParamsSize;
  params.cubin = image_.data();
  params.cubinSize = image_.size();
  params.functionName = function.c_str();
  params.pcOffset = offset;
  if (find_(&params) != CUPTI_SUCCESS) return 0;
  const bool is_source = params.fileName != nullptr && std::string_view(params.fileName).ends_with(".cu");
  std::free(params.fileName);
  std::free(params.dirName);
  return is_source ? static_cast<int>(params.lineNumber) : 0;
}

}  // namespace evo
