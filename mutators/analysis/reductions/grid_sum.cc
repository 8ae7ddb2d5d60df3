#include "mutators/analysis/reductions/grid_sum.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "kernel_templates/brought_parameters.h"
#include "mutators/analysis/grid_runs/grid_source.h"
#include "mutators/analysis/reductions/grid_sum_runs.h"
#include "mutators/analysis/source/source_query.h"

namespace evo {
namespace {

using namespace std::string_view_literals;

// Combinations of parameter values for which a source is run. With more, only the present values count.
constexpr std::size_t kMostSumSettings = 12;
// Elements of one run at most.
constexpr std::int64_t kMostSummed = 120'000;
constexpr std::int64_t kMostSummedElsewhere = 6'000;  // with other parameters
// The first numbers to try: of one thread, and odd ones.
constexpr std::int64_t kFewSummed = 37;
// A sum of fewer elements at most is not worth another kernel.
constexpr std::int64_t kFewestSummed = 128;

class GridSumFinder {
 public:
  explicit GridSumFinder(const MutationContext& context)
      : context_(context), present_(context.genome.parameters), source_(context), runs_(context, found_.size) {
    found_.size = source_.size();
  }

  std::variant<GridSum, std::string> Find() {
    if (!MayBeSum()) return "";
    const bool constant = source_.sizes().empty();
    bool found = constant ? TryConstant() : TryAll();
    if (constant && !found) return runs_.nearly() ? runs_.why() : "";
    const bool sums = !found && runs_.only_sums(), in_blocks = sums && runs_.in_blocks();
    found = found || (sums && TryPowersOfTwo());
    const std::string why = runs_.nearly() ? runs_.why() : "";
    if (!found && !(in_blocks && TryMultiples())) return why;
    if (!IsOfKnownTypes()) return why_;
    bool hidden = false;
    const Parameters deciding = source_.Deciding(runs_.names(), hidden);
    if (constant || !found_.when.empty() || found_.whole > 1 || found_.part > 0 || hidden || !TryOtherSettings(deciding))
      found_.parameters = deciding;
    found_.in_loop = source_.has_loop();
    found_.kernels = source_.Kernels();
    found_.functions = source_.AllFunctions();
    return found_;
  }

 private:
  bool MayBeSum() const {
    if (!source_.resembles_work() || source_.sizes().size() > 1) return false;
    return std::none_of(source_.launches().begin(), source_.launches().end(), [](const LaunchDirective* launch) {
      return launch->when || launch->cooperative || !launch->cluster.empty();
    });
  }

  bool Refuse(std::string why) {
    why_ = std::move(why);
    return false;
  }

  // Takes what a run says in general.
  void Take(std::int64_t size) {
    const SummedElements& one = runs_.found();
    found_.input = one.input;
    found_.output = one.output;
    found_.input_type = one.input_type;
    found_.output_type = one.output_type;
    found_.adds = one.adds;
    found_.per_size = one.elements % size == 0 ? one.elements / size : 1;
    found_.whole = 1;
    found_.part = 0;
    found_.one_more = false;
  }

  bool IsAsFound(std::int64_t size) const {
    const SummedElements& one = runs_.found();
    const std::int64_t elements = (size * found_.per_size + found_.whole - 1) / found_.whole * found_.whole;
    const std::int64_t parts = found_.part == 0 ? 1 : (elements + found_.part - 1) / found_.part;
    const bool same_part = found_.part == 0 || one.part == std::min(found_.part, elements);
    const bool empty = found_.one_more && elements % found_.part == 0;
    return one.empty == empty && one.input == found_.input && one.output == found_.output && one.adds == found_.adds &&
           one.elements == elements && one.parts == parts && same_part;
  }

  bool IsSum(const Parameters& parameters, std::int64_t size) {
    if (!runs_.Run(parameters, size)) return Refuse(runs_.why());
    return IsAsFound(size) || Refuse(fmt::format("of {} = {}, it adds up other elements", found_.size, size));
  }

  // Numbers of elements for which the launches have several blocks, a part of one, and more blocks than a block has threads.
  std::vector<std::int64_t> Sizes(const Parameters& parameters, std::int64_t most) const {
    const std::int64_t threads = Most(parameters, kFewSummed, [](const LaunchDirective& one) { return one.block[0]; });
    const std::int64_t blocks = Most(parameters, 4096, [](const LaunchDirective& one) { return one.grid[0]; });
    std::vector<std::int64_t> sizes{1, 2, threads + 1, 3 * threads + 5, 2100, (4096 / blocks + 1) * (threads + 1) + 3};
    std::erase_if(sizes, [&](std::int64_t size) { return size * found_.per_size > most; });
    return sizes;
  }

  template <typename Of>
  std::int64_t Most(const Parameters& parameters, std::int64_t size, Of of) const {
    std::int64_t most = 1;
    Variables variables = ToVariables(parameters);
    variables[found_.size] = Number::Integer(size);
    for (const LaunchDirective* launch : source_.launches()) {
      try {
        most = std::max(most, of(*launch).EvaluateInteger(variables));
      } catch (const Error&) {
        continue;
      }
    }
    return most;
  }

  // Of a number of elements that nothing decides.
  bool TryConstant() {
    if (!runs_.Run(present_, 1)) return Refuse(runs_.why());
    const std::int64_t elements = runs_.found().elements;
    if (elements < kFewestSummed || runs_.found().parts != 1) return Refuse("it adds up few elements");
    Take(elements);
    found_.size = std::to_string(elements);
    return true;
  }

  // Of any number of elements, or of all up to some number.
  bool TryAll() {
    if (!runs_.Run(present_, kFewSummed)) return Refuse(runs_.why());
    Take(kFewSummed);
    if (!runs_.Run(present_, 1)) return Refuse(runs_.why());
    if (const std::int64_t least = runs_.found().elements; least != found_.per_size) {
      found_.per_size = 1;
      found_.whole = least;
    }
    std::vector<std::int64_t> sizes = Sizes(present_, kMostSummed);
    // One sum of few elements may be that of a part.
    if (runs_.Run(present_, *std::max_element(sizes.begin(), sizes.end())) && runs_.found().parts > 1)
      found_.part = runs_.found().part;
    // Parts that are all whole.
    const std::int64_t whole = 3 * found_.part / found_.per_size;
    if (found_.part > 0 && whole * found_.per_size <= kMostSummed && runs_.Run(present_, whole)) {
      found_.one_more = runs_.found().empty;
      sizes.insert(sizes.end(), {whole, whole / 3});
    }
    for (const std::int64_t size : sizes) {
      if (!IsSum(present_, size)) return found_.part == 0 && FindMost(sizes);
    }
    return true;
  }

  // One block that has no more threads, or room for no more elements.
  bool FindMost(const std::vector<std::int64_t>& sizes) {
    std::int64_t right = kFewSummed, wrong = 0;
    for (const std::int64_t size : sizes) {
      if (IsSum(present_, size))
        right = std::max(right, size);
      else
        wrong = wrong == 0 ? size : std::min(wrong, size);
    }
    const std::string why = why_;
    if (wrong <= right) return Refuse(why);
    while (wrong - right > 1) {
      const std::int64_t middle = right + (wrong - right) / 2;
      (IsSum(present_, middle) ? right : wrong) = middle;
    }
    for (const std::int64_t size : {std::int64_t{1}, std::int64_t{2}, kFewSummed, right / 2 + 1, right - 1}) {
      if (!IsSum(present_, size)) return Refuse(why);
    }
    if (right < kFewestSummed) return Refuse(why);
    found_.when = fmt::format("{} <= {}", found_.size, right);
    return true;
  }

  // A tree that halves what is left adds up all elements of a number that is a power of two.
  bool TryPowersOfTwo() {
    const std::string why = why_;
    constexpr std::int64_t kFirst = 64;
    if (!runs_.Run(present_, kFirst)) return Refuse(why);
    Take(kFirst);
    if (!IsSum(present_, kFirst)) return Refuse(why);
    std::int64_t least = kFirst, most = kFirst;
    while (least > 1 && IsSum(present_, least / 2)) least /= 2;
    while (most * 2 * found_.per_size <= kMostSummed && IsSum(present_, most * 2)) most *= 2;
    if (most < kFewestSummed) return Refuse(why);
    found_.when = fmt::format("({0} & ({0} - 1)) == 0", found_.size);
    if (least > 1) found_.when += fmt::format(" && {} >= {}", found_.size, least);
    if (most * 2 * found_.per_size <= kMostSummed) found_.when += fmt::format(" && {} <= {}", found_.size, most);
    return true;
  }

  // Kernels that take whole blocks add up all elements of a number that is a multiple of what a block takes.
  bool TryMultiples() {
    const std::string why = why_;
    const std::int64_t threads = Most(present_, kFewSummed, [](const LaunchDirective& one) { return one.block[0]; });
    for (const std::int64_t times : {1, 2, 4, 8, 16}) {
      const std::int64_t least = times * threads, many = kMostSummed / least;
      if (threads == 1 || many < 8) break;
      if (!runs_.Run(present_, least)) continue;
      Take(least);
      if (runs_.Run(present_, 5 * least) && runs_.found().parts > 1) found_.part = runs_.found().part;
      // A last launch of one block may have room for so many parts only.
      if (found_.per_size != 1 || (found_.part == 0 && source_.launches().size() > 1 && many <= threads)) continue;
      const std::array<std::int64_t, 6> numbers{1, 2, 3, 5, 7, many};
      if (!std::all_of(numbers.begin(), numbers.end(), [&](std::int64_t n) { return IsSum(present_, n * least); })) continue;
      found_.when = fmt::format("{} % {} == 0", found_.size, least);
      return true;
    }
    return Refuse(why);
  }

  bool TryOtherSettings(const Parameters& deciding) {
    const std::vector<Parameters> settings = source_.OtherSettings(deciding, kMostSumSettings);
    if (settings.size() > kMostSumSettings) return false;
    return std::all_of(settings.begin(), settings.end(), [&](const Parameters& setting) {
      const std::vector<std::int64_t> sizes = Sizes(setting, kMostSummedElsewhere);
      return std::all_of(sizes.begin(), sizes.end(), [&](std::int64_t size) { return IsSum(setting, size); });
    });
  }

  bool IsOfKnownTypes() {
    constexpr std::array kReal{"float"sv, "double"sv};
    constexpr std::array kShort{"int"sv, "unsigned int"sv};
    constexpr std::array kLong{"long"sv, "unsigned long"sv, "long long"sv, "unsigned long long"sv};
    const auto is_in = [](const auto& types, const std::string& type) {
      return std::find(types.begin(), types.end(), type) != types.end();
    };
    const std::string &in = found_.input_type, &out = found_.output_type;
    const bool same = in == out && (is_in(kReal, in) || is_in(kShort, in) || is_in(kLong, in));
    const bool longer = (in == "float" && out == "double") || (is_in(kShort, in) && is_in(kLong, out));
    return same || longer || Refuse(fmt::format("it adds up elements of {} to {}", in, out));
  }

  const MutationContext& context_;
  const Parameters& present_;
  GridSource source_;
  GridSum found_;
  GridSumRuns runs_;
  std::string why_;
};

}  // namespace

std::string GridSum::Elements() const {
  const std::string all = per_size == 1 ? size : fmt::format("{} * {}", size, per_size);
  return whole == 1 ? all : fmt::format("ceil_div({}, {}) * {}", all, whole, whole);
}

std::variant<GridSum, std::string> AsGridSum(const MutationContext& context) { return GridSumFinder(context).Find(); }

}  // namespace evo
