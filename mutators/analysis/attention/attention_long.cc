#include "mutators/analysis/attention/attention_long.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <optional>
#include <utility>

#include "kernel_templates/brought_parameters.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/source_query.h"

namespace evo {
namespace {

// The row of the symbolic run whose number of keys tells which sizes drive it.
constexpr std::int64_t kDrivenRow = 3;
// Keys of a run, in which all numbers of the code matter that may limit what a row sees.
constexpr std::int64_t kMostKeys = 1100;
constexpr std::string_view kNoLongAttention = "what it stores is not softmax(scale * query * key) * value over the keys";

// Where the first key of a matrix is, and how far it is from there to the next one.
std::pair<std::int64_t, std::int64_t> FirstKey(const ThreadTrace& trace, int part, std::int64_t depth) {
  const auto& elements = trace.reads.at(part);
  const std::int64_t first = elements.begin()->first;
  auto next = elements.begin();
  std::advance(next, std::min<std::int64_t>(depth, static_cast<std::int64_t>(elements.size()) - 1));
  return {first, next->first - first};
}

}  // namespace

bool AttentionLong::Refuse(std::string why) {
  why_ = std::move(why);
  return false;
}

// A length beyond all numbers of the code, or the largest that the kernel takes.
bool AttentionLong::Find(AttentionRoles roles, Attention& found) {
  const std::int64_t number = traces_[0][1].largest_number;
  // `length = filled[b] + 1` must not be more than there is room for.
  if (!traces_[0][1].loaded.empty() && KeysRead(traces_[0][1], roles) - kLoaded[0] == 1 &&
      KeysRead(traces_[1][1], roles) - kLoaded[1] == 1)
    runs_.LoadFewer(1);
  driving_ = runs_.Driving(bounds_.rows(), kDrivenRow, roles, KeysRead(traces_[0][1], roles));
  for (const std::int64_t length : {number + 3, number, number - 1}) {
    if (length > kMostKeys) return Refuse(fmt::format("it has the number {}, and so many keys are not tried", number));
    const ThreadTrace trace = runs_.RunWith(1, length - 1, driving_, length);
    if (!trace.refusal.empty()) return Refuse(trace.refusal);
    if (trace.stores.empty() && length >= number) continue;
    return RunLength(roles, length, found);
  }
  return Refuse("no row stores anything where there are many keys");
}

// What scores are multiplied by whatever the length is: runs without forms take any number that a row multiplies by. nullopt if
// the scale names a parameter that is one of the sizes that change.
std::optional<double> AttentionLong::ScaleOfAllLengths(const AttentionRoles& roles) const {
  for (const auto& [parameter, expression] : runs_.arguments()) {
    const auto names = expression.Names();
    const bool changes =
        std::any_of(names.begin(), names.end(), [&](const std::string& name) { return driving_.contains(name); });
    if (changes && ContainsName(roles.scale, tree_.node(parameter).name)) return std::nullopt;
  }
  return ScaleIn(traces_[1][1], roles, kDrivenRow);
}

bool AttentionLong::RunLength(AttentionRoles roles, std::int64_t length, Attention& found) {
  std::array<std::pair<std::int64_t, std::int64_t>, 2> first{};  // of the longest row: where its keys and values begin
  std::int64_t seen = 0;
  const std::optional<double> scale = ScaleOfAllLengths(roles);
  for (const std::int64_t row : {length - 1, length / 2, std::int64_t{1}}) {
    const ThreadTrace trace = runs_.RunWith(1, row, driving_, length);
    if (!trace.refusal.empty()) return Refuse(trace.refusal);
    const auto refuse = [&] { return Refuse(fmt::format("with {} keys, {}", length, kNoLongAttention)); };
    const std::int64_t all = roles.causal ? row + 1 : length;
    const auto computes = [&] {
      return Computes(trace, roles, row, scale) &&
             KeysRead(trace, roles) >= (roles.window > 0 ? std::min(roles.window, all) : all);
    };
    if (roles.causal && row == length - 1 && !computes()) {
      const auto window = WindowIn(trace, roles, row);
      if (!window) return refuse();
      if (!FindWindow(roles, row, length, *window, found)) return false;
      roles.window = *window;
    }
    if (!computes()) return refuse();
    if (row == length - 1) seen = KeysRead(trace, roles);
    for (const std::size_t i : {0u, 1u}) {
      const auto [at, distance] = FirstKey(trace, i == 0 ? roles.k : roles.v, roles.depth);
      if (row == length - 1) first[i] = {at, distance};
      // Keys before a window are not read, and the others lie where those of all rows do.
      const bool skipped = roles.window > 0 && seen == roles.window;
      if (row == 1 && skipped && first[i].first != at + (length - roles.window) * distance) return refuse();
    }
  }
  return true;
}

// What says how many keys a row sees: a number, or a parameter that has one less, as many, or one more in both settings.
bool AttentionLong::FindWindow(const AttentionRoles& roles, std::int64_t row, std::int64_t length, std::int64_t window,
                               Attention& found) {
  const auto none = [&] { return Refuse(fmt::format("its rows see {} keys, and it is not known what says so", window)); };
  const ThreadTrace trace = runs_.RunWith(0, row, driving_, length);
  const auto other = trace.refusal.empty() ? WindowIn(trace, roles, row) : std::nullopt;
  if (!other) return none();
  if (*other == window) {
    found.window = std::to_string(window);
    return true;
  }
  const auto first = runs_.IntegersOf(0), second = runs_.IntegersOf(1);
  for (const std::int64_t more : {0, 1, -1}) {
    for (const auto& [parameter, expression] : runs_.arguments()) {
      if (first.at(parameter) + more != *other || second.at(parameter) + more != window) continue;
      if (WrittenIn(tree_, found.kernel).contains(parameter) || expression.Names().size() != 1) continue;
      bounds_.Allow(parameter);
      // As an integer with a sign, since rows are such.
      const std::string type = WithoutConst(tree_.node(parameter).type);
      const std::string name = fmt::format(fmt::runtime(type == "int" ? "{}" : "int({})"), tree_.node(parameter).name);
      found.window = more == 0 ? name : fmt::format("{} {} 1", name, more > 0 ? "+" : "-");
      const std::string size = expression.Names().front();
      return KeepsLongWindow(roles, size, length, found) && KeepsWithoutWindow(roles, size, found);
    }
  }
  return none();
}

// Whether a window beyond all numbers of the code hides nothing, so that none of them limits it.
bool AttentionLong::KeepsLongWindow(const AttentionRoles& roles, const std::string& size, std::int64_t length,
                                    const Attention& found) {
  std::set<std::string> names = driving_;
  names.insert(size);
  const std::int64_t row = length - 2;
  const ThreadTrace trace = runs_.RunWith(1, row, names, length);
  const bool all = trace.refusal.empty() && Computes(trace, roles, row) && KeysRead(trace, roles) > row;
  return all || Refuse(fmt::format("its rows do not see {} keys where these are many", found.window));
}

// Whether rows that see no key are 0 / 0 in the kernel.
bool AttentionLong::KeepsWithoutWindow(const AttentionRoles& roles, const std::string& size, const Attention& found) {
  const ThreadTrace trace = runs_.RunWith(0, kDrivenRow, {size}, -1);
  const auto stored = trace.stores.find(roles.o);
  const bool undefined =
      trace.refusal.empty() && stored != trace.stores.end() &&
      std::all_of(stored->second.begin(), stored->second.end(), [](const auto& one) { return std::isnan(one.second.value); });
  return undefined || Refuse(fmt::format("where its window of {} keys is empty, what it stores is not 0 / 0", found.window));
}

}  // namespace evo
