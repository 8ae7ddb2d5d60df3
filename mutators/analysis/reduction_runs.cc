#include "mutators/analysis/reduction_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "core/error.h"
#include "mutators/analysis/constant_value.h"
#include "mutators/analysis/data_flow.h"
#include "mutators/analysis/fingerprint.h"
#include "mutators/analysis/source_query.h"

namespace evo {
namespace {

// Combinations of parameter values for which a kernel is run. With more, only the present values count.
constexpr std::size_t kMostSettings = 48;

std::uint64_t ElementsFrom(std::int64_t begin, std::int64_t end) {
  std::uint64_t sum = 0;
  for (std::int64_t i = begin; i < end; ++i) sum += FingerprintOf(i);
  return sum;
}

}  // namespace

bool ReductionRuns::Refuse(std::string why) {
  why_ = std::move(why);
  return false;
}

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
  Parameters named;
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

// Tries each integer that the kernel gets as the number of elements.
bool ReductionRuns::Classify() {
  FindSettings();
  std::vector<std::pair<std::string, int>> bounds;
  const auto written = WrittenIn(tree_, found_.kernel);
  for (const int child : tree_.node(found_.kernel).children) {
    const SyntaxNode& parameter = tree_.node(child);
    if (parameter.kind_name != "ParmDecl" || !IsArithmetic(WithoutConst(parameter.type))) continue;
    const bool real = parameter.type.find("float") != std::string::npos || parameter.type.find("double") != std::string::npos;
    if (!real && !written.contains(child)) bounds.emplace_back(parameter.name, child);
  }
  for (const SizeMacro& macro : context_.rendered.size_macros) {
    if (IsNamed(macro.name)) bounds.emplace_back(macro.name, -1);
  }
  if (bounds.empty()) return Refuse("the number of elements is neither a parameter of the kernel nor a size");
  std::string best;
  for (const auto& [name, parameter] : bounds) {
    found_.bound = name;
    found_.bound_parameter = parameter;
    if (ClassifyAll()) return true;
    if (best.empty() || best.starts_with("its work depends")) best = why_;
  }
  return Refuse(best);
}

bool ReductionRuns::ClassifyAll() {
  seen_ = {};
  bool first = true;
  std::int64_t times = 0;
  for (const Parameters& setting : settings_) {
    const std::int64_t threads = ThreadsOf(setting);
    if (threads < 1 || threads > 1024) {
      if (settings_.size() == 1) return Refuse("its block's size is not known before the launch");
      continue;
    }
    const auto before = seen_.blocks;
    if (!ClassifyOne(setting, threads)) return false;
    const bool whole = seen_.blocks != Reduction::Blocks::kOwnPart || seen_.part % threads == 0;
    if (!first && (seen_.blocks != before || !whole || (seen_.part / threads != times && !found_.parameters.empty())))
      return Refuse("its blocks take other parts for other values of the parameters");
    if (seen_.blocks == Reduction::Blocks::kOwnPart && (!whole || (!first && seen_.part / threads != times))) varies_ = true;
    times = seen_.part / threads;
    first = false;
  }
  if (first) return Refuse("its block's size is not known before the launch");
  found_.blocks = seen_.blocks;
  if (found_.blocks == Reduction::Blocks::kOwnPart) {
    const std::string& block = found_.launch->block[0].text();
    found_.part = times == 1 ? Parenthesised(block) : fmt::format("{} * {}", times, Parenthesised(block));
    if (varies_) PinPart();
  }
  return true;
}

// A part that is no multiple of the block is known for the present values only.
void ReductionRuns::PinPart() {
  for (const Parameter& parameter : context_.rendered.space.parameters) {
    if (IsNamed(parameter.name)) found_.parameters[parameter.name] = context_.genome.parameters.at(parameter.name);
  }
  const Parameters& present = context_.genome.parameters;
  if (ClassifyOne(present, ThreadsOf(present))) found_.part = std::to_string(seen_.part);
}

// One block's run; its refusal is ours.
std::optional<Partial> ReductionRuns::Run(const Parameters& setting, std::int64_t threads, std::int64_t bound,
                                          std::int64_t blocks, std::int64_t block) {
  RunSetting numbers;
  for (const auto& [name, value] : setting) numbers.macros[name] = value;
  if (found_.bound_parameter >= 0)
    numbers.parameters[found_.bound_parameter] = bound;
  else
    numbers.macros[found_.bound] = bound;
  numbers.threads = threads;
  numbers.blocks = blocks;
  numbers.block = block;
  const BlockRun run = LockstepRun(tree_, found_.kernel, elements_, numbers).Run();
  if (!run.refusal.empty()) {
    Refuse(run.refusal);
    return std::nullopt;
  }
  seen_.outputs.insert(run.outputs.begin(), run.outputs.end());
  seen_.initials.insert(run.initials.begin(), run.initials.end());
  seen_.combines.insert(run.combines.begin(), run.combines.end());
  if (run.data >= 0) seen_.data = run.data;
  seen_.own_place = seen_.own_place && run.at == block;
  seen_.once = seen_.once && run.stores == 1;
  if (run.result.defined && !run.result.initial) seen_.always_initial = false;
  return run.result;
}

bool ReductionRuns::ClassifyOne(const Parameters& setting, std::int64_t threads) {
  const auto unlike = [&] {
    return Refuse(why_.empty() || !why_.starts_with("its work") ? "its blocks do not take every element exactly once" : why_);
  };
  why_.clear();
  const std::int64_t many = 20 * threads + 3;
  const auto alone = Run(setting, threads, many, 1, 0);
  const auto one = Run(setting, threads, 1, 1, 0);
  if (!alone || !one) return false;
  if (alone->count == 0) return Refuse("none of what it loads is in its result");
  if (one->elements != FingerprintOf(0)) return unlike();
  if (alone->elements == ElementsFrom(0, many)) {
    const std::int64_t all = 5 * threads + 3;
    std::uint64_t together = 0;
    bool each = true;
    for (std::int64_t block = 0; block < 3; ++block) {
      const auto partial = Run(setting, threads, all, 3, block);
      if (!partial) return false;
      together += partial->elements;
      each = each && partial->elements == ElementsFrom(0, all);
    }
    if (!each && together != ElementsFrom(0, all)) return unlike();
    seen_.blocks = each ? Reduction::Blocks::kAllOfThem : Reduction::Blocks::kShareAll;
    return true;
  }
  const std::int64_t part = alone->count;
  const std::int64_t end = 2 * part + part / 2 + 1;
  for (std::int64_t block = 0; block < 4; ++block) {
    const auto partial = Run(setting, threads, end, 4, block);
    if (!partial) return false;
    if (partial->elements != ElementsFrom(std::min(block * part, end), std::min((block + 1) * part, end))) return unlike();
  }
  if (alone->elements != ElementsFrom(0, part)) return unlike();
  seen_.blocks = Reduction::Blocks::kOwnPart;
  seen_.part = part;
  return true;
}

}  // namespace evo
