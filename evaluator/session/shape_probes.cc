#include "evaluator/session/shape_probes.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "core/error.h"
#include "core/rng.h"
#include "evaluator/gate/input_generator.h"
#include "kernel_templates/case_scale.h"

namespace evo {
namespace {

// Beyond these an index that is kept in 16 bits, or in a float, is wrong; both are prime or one more, so that no block size
// divides them.
constexpr std::int64_t kLargeSize = 65'537;
constexpr std::int64_t kManyElements = (1 << 24) + 1;
constexpr std::int64_t kPeriod = 1'048'583;  // the smallest prime above 2^20
// Inputs, their copies, outputs and references of an unusual size take at most this share of the memory.
constexpr double kProbeShare = 64;

bool IsPrime(std::int64_t n) {
  for (std::int64_t d = 2; d * d <= n; ++d) {
    if (n % d == 0) return false;
  }
  return n > 1;
}

std::int64_t NextPrime(std::int64_t n) {
  do ++n;
  while (!IsPrime(n));
  return n;
}

struct Cost {
  double operations = 0;
  double bytes = 0;
  std::int64_t elements = 0;  // of the largest argument
};

std::optional<Cost> CostOf(const Task& task, const Case& sizes) {
  try {
    const Variables variables = CaseVariables(task, sizes);
    Cost cost{task.operations.Evaluate(variables).AsReal(), 0, 0};
    for (const Argument& argument : task.arguments) {
      if (argument.role == Role::kScalar) continue;
      const std::int64_t elements = ElementCount(argument, variables);
      cost.elements = std::max(cost.elements, elements);
      cost.bytes += static_cast<double>(elements) * static_cast<double>(ByteSize(argument.dtype));
    }
    return cost;
  } catch (const Error&) {  // a dimension that is not positive, or an overflow
    return std::nullopt;
  }
}

bool BySize(const std::pair<const std::string, std::int64_t>& a, const std::pair<const std::string, std::int64_t>& b) {
  return a.second < b.second;
}

class Prober {
 public:
  Prober(const Task& task, const Case& usual, const Case& small, const ShapeLimits& limits)
      : task_(task), small_(small), limits_(limits) {
    seen_.insert(SizesText(task, usual));
  }

  void Try(Case sizes) {
    sizes.name = SizesText(task_, sizes);
    if (Affordable(sizes) && seen_.insert(sizes.name).second) found_.push_back(std::move(sizes));
  }

  // `name` as large as kLargeSize or the limits allow, then the other sizes as large as it takes for many elements.
  void TryLarge(const std::string& name) {
    Case sizes = small_;
    sizes.sizes.at(name) = kLargeSize;
    while (!Affordable(sizes) && Halve(sizes, name)) {
    }
    // Odd numbers mostly, and in the end 1: the task may allow multiples of something only.
    for (std::int64_t& size = sizes.sizes.at(name); !Affordable(sizes) && size > 1;) size = size > 2 ? size / 2 + 1 : 1;
    for (const std::string& other : task_.size_names) {
      if (other == name) continue;
      Case more = sizes;
      const auto cost = CostOf(task_, sizes);
      if (!cost || cost->elements >= kManyElements) break;
      more.sizes.at(other) = sizes.sizes.at(other) * (kManyElements / cost->elements + 1);
      if (Affordable(more) && CostOf(task_, more)->elements > cost->elements) sizes = more;
    }
    if (sizes.sizes.at(name) > small_.sizes.at(name)) Try(sizes);
  }

  std::vector<Case> Found() { return std::move(found_); }

 private:
  bool Affordable(const Case& sizes) const {
    const auto cost = CostOf(task_, sizes);
    return cost && cost->operations <= limits_.operations && cost->bytes <= limits_.bytes;
  }
  // Halves the largest of the other sizes; false if all are 1.
  bool Halve(Case& sizes, const std::string& name) const {
    std::string largest;
    for (const std::string& other : task_.size_names) {
      if (other != name && (largest.empty() || sizes.sizes.at(other) > sizes.sizes.at(largest))) largest = other;
    }
    if (largest.empty() || sizes.sizes.at(largest) == 1) return false;
    sizes.sizes.at(largest) /= 2;
    return true;
  }

  const Task& task_;
  const Case& small_;
  const ShapeLimits& limits_;
  std::set<std::string> seen_;
  std::vector<Case> found_;
};

bool IsElementwise(Generator::Kind kind) {
  return kind == Generator::Kind::kNormal || kind == Generator::Kind::kUniform || kind == Generator::Kind::kConstant ||
         kind == Generator::Kind::kSparse || kind == Generator::Kind::kIndex;
}

}  // namespace

std::vector<Case> ShapeProbes(const Task& task, const Case& usual, const Case& small, const ShapeLimits& limits) {
  Prober prober(task, usual, small, limits);
  for (const std::string& name : task.size_names) {
    const std::int64_t size = usual.sizes.at(name);
    for (const std::int64_t other : {std::int64_t{1}, std::max<std::int64_t>(size / 2, 1), NextPrime(size), 2 * size}) {
      Case sizes = usual;
      sizes.sizes.at(name) = other;
      prober.Try(std::move(sizes));
    }
  }
  Case equal = usual;
  for (auto& [name, size] : equal.sizes) size = std::min_element(usual.sizes.begin(), usual.sizes.end(), BySize)->second;
  prober.Try(std::move(equal));
  for (const std::string& name : task.size_names) prober.TryLarge(name);
  return prober.Found();
}

std::vector<Case> SizesToTry(const Task& task, const DevicePolicy& policy, std::size_t memory_bytes) {
  const DevicePolicy::LargestProbe& largest = policy.largest_probe;
  const Case& timed = SearchCases(task, policy.cases).front();
  const Case& usual = policy.probes_timed_sizes ? timed : task.small;
  const double operations = task.operations.Evaluate(CaseVariables(task, timed)).AsReal();
  const double memory = memory_bytes > 0 ? static_cast<double>(memory_bytes) : 1e9;
  return ShapeProbes(task, usual, task.small,
                     {std::max(largest.operations, largest.of_search_case * operations), memory / kProbeShare});
}

Case ShrunkCase(const Task& task, const Case& usual, std::int64_t elements) {
  Case sizes = usual;
  for (auto cost = CostOf(task, sizes); cost && cost->elements > elements; cost = CostOf(task, sizes)) {
    const auto largest = std::max_element(sizes.sizes.begin(), sizes.sizes.end(), BySize);
    if (largest->second == 1) break;
    largest->second = (largest->second + 1) / 2;
  }
  sizes.name = SizesText(task, sizes);
  return sizes;
}

bool LargerThanListed(const Task& task, const Case& sizes) {
  return std::any_of(sizes.sizes.begin(), sizes.sizes.end(), [&](const auto& size) {
    std::int64_t largest = task.small.sizes.at(size.first);
    for (const auto* cases : {&task.search_cuda, &task.search_cpu, &task.held_out, &task.held_out_cpu}) {
      for (const Case& listed : *cases) largest = std::max(largest, listed.sizes.at(size.first));
    }
    return size.second > largest;
  });
}

DrawnArguments DrawArgumentsOfSizes(const Task& task, const Case& sizes, std::uint64_t seed) {
  const Variables variables = CaseVariables(task, sizes);
  DrawnArguments drawn(task.arguments.size());
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    const Argument& argument = task.arguments[i];
    if (argument.generators.empty()) continue;
    const Generator& generator = argument.generators.front();
    const std::int64_t elements = ElementCount(argument, variables);
    const std::int64_t distinct = IsElementwise(generator.kind) ? std::min(elements, kPeriod) : elements;
    const std::int64_t row = argument.shape.back().EvaluateInteger(variables);
    drawn[i] = GenerateInput(generator, argument.dtype, distinct, row, variables, Rng(seed, i + 1, 0).Next());
    const std::size_t period = drawn[i].size();
    drawn[i].resize(static_cast<std::size_t>(elements) * ByteSize(argument.dtype));
    for (std::size_t at = period; at < drawn[i].size(); at += period)
      std::copy_n(drawn[i].begin(), std::min(period, drawn[i].size() - at), drawn[i].begin() + static_cast<std::ptrdiff_t>(at));
  }
  return drawn;
}

}  // namespace evo
