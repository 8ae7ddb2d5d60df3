// For which values of the parameters a reduction is run.
#include <algorithm>
#include <cctype>
#include <utility>

#include "core/error.h"
#include "mutators/analysis/reductions/reduction_runs.h"
#include "mutators/analysis/source/constant_value.h"
#include "mutators/analysis/source/source_query.h"

namespace evo {
namespace {

// Combinations of parameter values for which a kernel is run. With more, only the present values count.
constexpr std::size_t kMostSettings = 48;

}  // namespace

bool ReductionRuns::IsNamed(std::string_view name) const {
  const auto tokens = tree_.Tokens(tree_.node(found_.kernel).range);
  const auto of_block = found_.launch->block[0].Names();
  return std::find(tokens.begin(), tokens.end(), name) != tokens.end() ||
         std::find(of_block.begin(), of_block.end(), name) != of_block.end();
}

// The values of the parameters that the kernel names: all combinations that the constraints allow, if they are few and nothing
// else hides a parameter.
void ReductionRuns::FindSettings() {
  const auto& present = context_.genome.parameters;
  std::vector<Parameters> settings{present};
  Parameters& named = named_;
  for (const Parameter& parameter : context_.rendered.space.parameters) {
    if (!IsNamed(parameter.name) || !present.contains(parameter.name)) continue;
    named[parameter.name] = present.at(parameter.name);
    std::vector<Parameters> more;
    for (const Parameters& setting : settings) {
      for (const std::int64_t value : parameter.values) {
        more.push_back(setting);
        more.back()[parameter.name] = value;
      }
    }
    settings = std::move(more);
    if (settings.size() > kMostSettings * 8) break;
  }
  const SearchSpace& space = context_.rendered.space;
  std::erase_if(settings, [&](const Parameters& setting) { return space.Violated(setting).has_value(); });
  bool hidden = false;
  for (const std::string_view token : tree_.Tokens(tree_.node(found_.kernel).range)) {
    if (std::isalpha(static_cast<unsigned char>(token.front())) == 0 || named.contains(std::string(token))) continue;
    if (!ConstantValue(tree_, token)) continue;
    for (const auto& [name, value] : ParametersBehind(context_, token)) {
      hidden = true;
      named[name] = value;
    }
  }
  if (hidden || settings.size() > kMostSettings) {
    settings = {present};
    found_.parameters = named;
  }
  settings_ = std::move(settings);
}

std::int64_t ReductionRuns::ThreadsOf(const Parameters& setting) const {
  try {
    return found_.launch->block[0].EvaluateInteger(ToVariables(setting));
  } catch (const Error&) {
    return 0;
  }
}

}  // namespace evo
