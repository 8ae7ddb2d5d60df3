#include "mutators/analysis/attention/attention_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <utility>

#include "core/error.h"
#include "mutators/analysis/source/constant_value.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/analysis/thread_runs/thread_block.h"

namespace evo {
namespace {

// What the sizes of the launch line are in the first and the second setting; no two are the same.
constexpr std::array<std::array<std::int64_t, 8>, 2> kTriedSizes{{{6, 7, 5, 9, 8, 11, 10, 12}, {5, 8, 7, 6, 11, 9, 13, 10}}};
// Rows among which the first without work is looked for, where so many have none: more than the product of two sizes.
constexpr std::int64_t kMostRows = 160, kTooManyRows = 1 << 20;
// Of the grid along the other axes, and one for each axis.
constexpr std::int64_t kOtherBlocks = 2;
// A size that is none of those, to see what it decides.
constexpr std::int64_t kLargerSize = 14;
// The same where one size is divided by another, and how much larger it is then.
constexpr std::int64_t kLargerEnlargedSize = 46, kTimesLarger = 3;
// Threads of a block, where it asks for them.
constexpr std::int64_t kBlockThreads = 4096;
// Of loops of threads that share a row, in all runs of a kernel: those that are found take up to 400,000, and tiles of 32 keys of
// 64 elements, all of which a thread goes through, four million.
constexpr std::int64_t kMostTurnsOfRows = 6 << 20;
// Heads among which the first without work is looked for: with more than products of three sizes.
constexpr std::int64_t kMostHeads = 200;

// What a form of parameters and numbers is.
std::int64_t ValueOf(const AffineForm& form, const std::map<int, std::int64_t>& integers) {
  std::int64_t value = 0;
  for (const auto& [product, count] : form.terms()) {
    std::int64_t term = count;
    for (const int symbol : product) {
      const auto known = integers.find(symbol);
      term *= known == integers.end() ? 0 : known->second;
    }
    value += term;
  }
  return value;
}

// What a row stores beside its elements, if that is one element each of one or two other buffers.
void SetApart(ThreadTrace& trace) {
  std::vector<int> others;
  for (const auto& [buffer, elements] : trace.stores) {
    if (elements.size() == 1) others.push_back(buffer);
  }
  if (others.empty() || others.size() > kMostBeside || others.size() + 1 != trace.stores.size()) return;
  for (const int buffer : others) {
    const auto read = trace.reads.find(buffer);
    if (read != trace.reads.end() && read->second.size() == 1 &&
        read->second.begin()->first == trace.stores.at(buffer).begin()->first) {
      trace.beside_starts[buffer] = read->second.begin()->second.value;
      trace.reads.erase(read);
    }
    trace.beside.insert(trace.stores.extract(buffer));
  }
}

// All that one trace tells of the code in another.
void MergeKnowledge(ThreadTrace& merged, const ThreadTrace& trace) {
  merged.compared.insert(trace.compared.begin(), trace.compared.end());
  merged.deciding.insert(trace.deciding.begin(), trace.deciding.end());
  merged.names.insert(trace.names.begin(), trace.names.end());
  merged.factors.insert(trace.factors.begin(), trace.factors.end());
  merged.limits.insert(merged.limits.end(), trace.limits.begin(), trace.limits.end());
  merged.largest_number = std::max(merged.largest_number, trace.largest_number);
  merged.base_two |= trace.base_two;
  merged.exponential |= trace.exponential;
  merged.reals_compared |= trace.reals_compared;
  merged.rounded |= trace.rounded;
}

}  // namespace

AttentionRuns::AttentionRuns(const MutationContext& context, const LaunchDirective& launch, int kernel, const RowIndex& row)
    : context_(context),
      tree_(context.tree),
      kernel_(kernel),
      row_(row),
      run_(context, kernel, row.together() ? BuiltinSymbol("blockIdx", row.axis) : row.declaration),
      sizes_(context, launch, kernel),
      refusal_(sizes_.refusal()) {
  FindPinned();
  FindFixed();
  FindScratch(launch);
  FindBytes();
  FindEnlarged();
  if (refusal_.empty() && sizes_.names().size() > kTriedSizes[0].size()) refusal_ = "its launch line names too many sizes";
}

// `heads / groups` is 0 where a size is the smaller one, and nothing can be divided by it.
void AttentionRuns::FindEnlarged() {
  if (!refusal_.empty()) return;
  const auto refuses = [&] {
    return std::any_of(std::begin(kTriedSizes), std::end(kTriedSizes), [&](const auto& sizes) {
      const ThreadTrace trace = Run(&sizes == &kTriedSizes[0] ? 0 : 1, 1);
      const bool quotient = trace.refusal.find(" / ") != std::string::npos || trace.refusal.find(" % ") != std::string::npos;
      return quotient && trace.refusal.ends_with("which is not understood");
    });
  };
  if (sizes_.names().size() > kTriedSizes[0].size() || !refuses()) return;
  for (const std::string& name : sizes_.names()) {
    pinned_.enlarged = {name};
    if (!refuses()) return;
  }
  pinned_.enlarged.clear();
}

std::int64_t AttentionRuns::LargerSize() const { return pinned_.enlarged.empty() ? kLargerSize : kLargerEnlargedSize; }

// The numbers of a run; `changed` names have the value `to`. nullopt if the launch line passes what is no number.
std::optional<ThreadSetting> AttentionRuns::SettingOf(std::size_t number, std::int64_t row, const std::set<std::string>& changed,
                                                      std::int64_t to, std::int64_t head) {
  ThreadSetting setting;
  Variables values;
  for (const auto& [name, value] : context_.genome.parameters) values[name] = Number::Integer(value);
  const std::vector<std::string>& names = sizes_.names();
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto fixed = pinned_.sizes.find(names[i]);
    values[names[i]] = Number::Integer(fixed != pinned_.sizes.end() ? fixed->second
                                       : changed.contains(names[i])
                                           ? to
                                           : kTriedSizes[number][i] * (pinned_.enlarged.contains(names[i]) ? kTimesLarger : 1));
  }
  try {
    for (const auto& [parameter, expression] : sizes_.arguments()) {
      const auto pinned = pinned_.parameters.find(parameter);
      setting.integers[parameter] = pinned != pinned_.parameters.end() ? pinned->second : expression.EvaluateInteger(values);
    }
  } catch (const Error&) {
    return std::nullopt;
  }
  setting.reals = sizes_.reals();
  for (const std::size_t axis : {0u, 1u, 2u}) {
    setting.builtins[BuiltinSymbol("blockIdx", axis)] = axis == row_.axis ? 0 : head;
    setting.builtins[BuiltinSymbol("gridDim", axis)] = kOtherBlocks + static_cast<std::int64_t>(axis);
  }
  setting.scratch = given_.scratch;
  setting.elements = given_.filled;
  setting.integer_bytes = given_.bytes;
  setting.loaded = changed.empty() ? kLoaded[number] : to - given_.keys_beyond_loaded;
  if (row_.together()) {
    setting.builtins[BuiltinSymbol("blockIdx", row_.axis)] = row / row_.extent;
    for (std::size_t axis = 0; axis < row_.block.size(); ++axis)
      setting.builtins[BuiltinSymbol("blockDim", axis)] = row_.block[axis];
    setting.consumed = true;
    setting.thread_symbols = false;
    return setting;
  }
  setting.builtins[BuiltinSymbol("threadIdx", row_.block_axis)] = row;
  setting.builtins[BuiltinSymbol("blockDim", row_.block_axis)] = kBlockThreads;
  setting.row = row;
  if (row_.flat_length) {
    setting.flat_length = row_.flat_length;
    setting.flat_outer = BuiltinSymbol("blockIdx", 1);
    setting.flat_row = row_.declaration;
    setting.row = head * ValueOf(*row_.flat_length, setting.integers) + row;
  }
  return setting;
}

// One thread of the row, or all that share it.
ThreadTrace AttentionRuns::RunSetting(const ThreadSetting& setting, std::int64_t row) {
  ThreadTrace trace = row_.together() ? RunTogether(setting, row) : run_.Run(setting);
  SplitParts(given_.packing, row, trace);
  SetApart(trace);
  return trace;
}

ThreadTrace AttentionRuns::RunTogether(const ThreadSetting& setting, std::int64_t row) {
  const ThreadSetting& last = last_.setting;
  if (last_.traces.empty() || last.symbolic != setting.symbolic || last.integers != setting.integers ||
      last.builtins != setting.builtins || last.loaded != setting.loaded || last.elements != setting.elements ||
      last.chosen != setting.chosen) {
    std::vector<ThreadSetting> threads(row_.shared_rows.size(), setting);
    for (std::size_t i = 0; i < threads.size(); ++i) {
      auto number = static_cast<std::int64_t>(i);
      for (std::size_t axis = 0; axis < row_.block.size(); ++axis) {
        threads[i].builtins[BuiltinSymbol("threadIdx", axis)] = number % row_.block[axis];
        number /= row_.block[axis];
      }
    }
    last_ = {RunBlock(run_, std::move(threads), kMostTurnsOfRows), setting};
  }
  ThreadTrace merged;
  for (std::size_t i = 0; i < last_.traces.size(); ++i) {
    const ThreadTrace& trace = last_.traces[i];
    if (!trace.refusal.empty()) return trace;
    MergeKnowledge(merged, trace);
    if (row_.shared_rows[i] != row % row_.extent) continue;
    for (const auto& [from, to] : {std::pair(&trace.reads, &merged.reads), std::pair(&trace.stores, &merged.stores)}) {
      for (const auto& [buffer, elements] : *from) (*to)[buffer].insert(elements.begin(), elements.end());
    }
    for (const auto& [buffer, elements] : trace.loaded) merged.loaded[buffer].insert(elements.begin(), elements.end());
  }
  return merged;
}

AffineForm AttentionRuns::RowForm(std::int64_t row) const {
  const AffineForm symbol = AffineForm::Symbol(row_symbol());
  if (!row_.together()) return symbol;
  return symbol.TimesForm(AffineForm::Constant(row_.extent)).Plus(AffineForm::Constant(row % row_.extent));
}

int AttentionRuns::row_symbol() const { return row_.together() ? BuiltinSymbol("blockIdx", row_.axis) : row_.declaration; }

ThreadTrace AttentionRuns::Run(std::size_t number, std::int64_t row) {
  const auto setting = SettingOf(number, row, {}, 0);
  if (setting) return RunSetting(*setting, row);
  ThreadTrace trace;
  trace.refusal = "its launch line passes what is no number";
  return trace;
}

ThreadTrace AttentionRuns::RunWith(std::size_t number, std::int64_t row, const std::set<std::string>& names, std::int64_t size) {
  auto setting = SettingOf(number, row, names, size);
  if (!setting) return {};
  setting->symbolic = given_.forms;
  return RunSetting(*setting, row);
}

ThreadTrace AttentionRuns::RunWithoutKeys(std::int64_t row, std::int64_t rows, const AttentionRoles& roles) {
  const std::int64_t keys = KeysRead(RunWith(0, row, {}, 0), roles);
  std::set<std::string> deciding;
  for (const std::string& name : Driving(rows, row, roles, keys)) {
    if (RunWith(0, rows, {name}, LargerSize()).stores.empty()) deciding.insert(name);
  }
  auto setting = SettingOf(0, row, deciding, 0);
  if (!setting) return {};
  setting->loaded = 0;
  setting->symbolic = given_.forms;
  return RunSetting(*setting, row);
}

ThreadTrace AttentionRuns::RunChosen(std::size_t number, std::int64_t row, std::map<int, BufferContents> chosen) {
  auto setting = SettingOf(number, row, {}, 0);
  if (!setting) return {};
  for (auto& [parameter, contents] : chosen)
    setting->chosen[parameter] = std::make_shared<const BufferContents>(std::move(contents));
  setting->symbolic = given_.forms;
  return RunSetting(*setting, row);
}

ThreadTrace AttentionRuns::RunWithKeys(std::int64_t row, const AttentionRoles& roles, double keys) {
  const ThreadTrace finite = RunChosen(0, row, {});
  std::map<int, BufferContents> chosen;
  for (const auto& [part, number] : {std::pair(roles.q, 1.0), std::pair(roles.k, keys)}) {
    const auto read = finite.reads.find(part);
    if (read == finite.reads.end()) return finite;
    for (const auto& [index, access] : read->second) chosen[BufferOfPart(part)][index] = number;
  }
  return RunChosen(0, row, std::move(chosen));
}

ThreadTrace AttentionRuns::RunHead(std::size_t number, std::int64_t head, std::int64_t row) {
  auto setting = SettingOf(number, row, {}, 0, head);
  if (!setting) return {};
  setting->symbolic = given_.forms;
  return RunSetting(*setting, row);
}

std::int64_t AttentionRuns::LengthOf(std::size_t number) {
  const auto setting = SettingOf(number, 0, {}, 0);
  return setting ? ValueOf(*row_.flat_length, setting->integers) : 0;
}

std::optional<std::int64_t> AttentionRuns::HeadsOf(std::size_t number) {
  const std::int64_t length = LengthOf(number);
  for (std::int64_t head = 0; head < kMostHeads; ++head) {
    const ThreadTrace first = RunHead(number, head, 0), last = RunHead(number, head, length - 1);
    if (!first.refusal.empty() || first.stores.empty() != last.stores.empty()) return std::nullopt;
    if (first.stores.empty()) return head;
  }
  return std::nullopt;
}

std::optional<std::int64_t> AttentionRuns::RowsOf(std::size_t number) {
  // Of causal rows without a bound, the second would take far longer.
  if (!RunWith(number, kMostRows, {}, 0).stores.empty()) return std::nullopt;
  const ThreadTrace beyond = RunWith(number, kTooManyRows, {}, 0);
  if (!beyond.refusal.empty() || !beyond.stores.empty()) return std::nullopt;
  for (std::int64_t row = 0; row < kMostRows; ++row) {
    const ThreadTrace trace = RunWith(number, row, {}, 0);
    if (!trace.refusal.empty()) return std::nullopt;
    if (trace.stores.empty()) return row;
  }
  return std::nullopt;
}

std::set<std::string> AttentionRuns::Driving(std::int64_t rows, std::int64_t row, const AttentionRoles& roles,
                                             std::int64_t keys) {
  std::set<std::string> driving;
  for (const std::string& name : sizes_.names()) {
    if (pinned_.sizes.contains(name)) continue;
    const ThreadTrace wide = RunWith(0, rows, {name}, LargerSize()), more = RunWith(0, row, {name}, LargerSize());
    // By a larger one something may become 0 that the kernel divides by.
    if (!wide.refusal.empty() || !more.refusal.empty()) continue;
    if (!wide.stores.empty() || KeysRead(more, roles) != keys) driving.insert(name);
  }
  return driving;
}

}  // namespace evo
