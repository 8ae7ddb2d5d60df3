#include "mutators/analysis/reductions/reduction_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/source_query.h"

namespace evo {
namespace {

// Of elements.
constexpr std::array<std::int64_t, 2> kLargeNumbers{(1 << 20) + 5, (1 << 30) + 5};

constexpr std::array<Reduction::Grain, 7> kGrains{{{1, 1}, {4, 1}, {4, 4}, {2, 1}, {2, 2}, {8, 1}, {8, 8}}};
constexpr std::string_view kOtherElements = "its blocks do not take every element exactly once";

// Turns of a loop that all threads go through. Turns() counts on it.
constexpr std::int64_t kTurns = 2;

// Of all turns of the loops.
std::uint64_t ElementsFrom(std::size_t kind, std::size_t loops, std::int64_t begin, std::int64_t end) {
  std::vector<std::int64_t> turns{0};
  for (; loops > 0; --loops) {
    std::vector<std::int64_t> inner;
    for (const std::int64_t turn : turns) {
      for (std::int64_t i = 0; i < kTurns; ++i) inner.push_back(turn * kMostTurns + i);
    }
    turns = std::move(inner);
  }
  std::uint64_t sum = 0;
  for (const std::int64_t turn : turns) {
    for (std::int64_t i = begin; i < end; ++i) sum += ElementFingerprint(kind, turn, i);
  }
  return sum;
}

}  // namespace

bool ReductionRuns::Refuse(std::string why) {
  why_ = std::move(why);
  return false;
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
    const bool of_loop = std::any_of(elements_.loops().begin(), elements_.loops().end(),
                                     [&](const OuterLoop& loop) { return loop.bound_parameter == child; });
    if (!real && !of_loop && !written.contains(child)) bounds.emplace_back(parameter.name, child);
  }
  for (const SizeMacro& macro : context_.rendered.size_macros) {
    const bool of_loop = std::any_of(elements_.loops().begin(), elements_.loops().end(),
                                     [&](const OuterLoop& loop) { return loop.bound == macro.name; });
    if (!of_loop && IsNamed(macro.name)) bounds.emplace_back(macro.name, -1);
  }
  if (ClassifyWith(bounds)) return true;
  if (settings_.size() > 1) {
    // It may be right for the present values only, such as blocks of 64 threads or more.
    settings_ = {context_.genome.parameters};
    found_.parameters = named_;
    if (ClassifyWith(bounds)) return true;
  }
  const std::string why =
      bounds.empty() ? "the number of elements is neither a parameter of the kernel nor a size" : std::exchange(why_, "");
  return ClassifyWith({{"", -1}}) || Refuse(why);
}

bool ReductionRuns::ClassifyWith(const std::vector<std::pair<std::string, int>>& bounds) {
  std::string best;
  for (const auto& [name, parameter] : bounds) {
    for (const Reduction::Grain& grain : kGrains) {
      found_.bound = name;
      found_.bound_parameter = parameter;
      found_.grain = grain;
      if (ClassifyAll()) {
        if (grain.divided > 1) found_.bound += fmt::format(" / {}", grain.divided);
        if (grain.times > 1) found_.bound += fmt::format(" * {}", grain.times);
        return true;
      }
      if (name.empty() || why_ != kOtherElements) break;
    }
    found_.grain = {};
    if (best.empty() || best.starts_with("its work depends")) best = why_;
  }
  return Refuse(best);
}

bool ReductionRuns::ClassifyAll() {
  seen_ = {};
  bool first = true, same_turns = true;
  std::int64_t times = 0, turns = 0;
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
    same_turns = same_turns && seen_.turn > 0 && (first || seen_.turn / threads == turns);
    turns = seen_.turn / threads;
    first = false;
  }
  if (first) return Refuse("its block's size is not known before the launch");
  found_.blocks = seen_.blocks;
  const auto blocks_of = [&](std::int64_t number) {
    const std::string& block = found_.launch->block[0].text();
    return number == 1 ? Parenthesised(block) : fmt::format("{} * {}", number, Parenthesised(block));
  };
  turn_ = found_.blocks == Reduction::Blocks::kShareAll && same_turns ? blocks_of(turns) : "";
  if (found_.blocks == Reduction::Blocks::kOwnPart) {
    found_.part = blocks_of(times);
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
std::optional<ReductionRuns::Taken> ReductionRuns::Run(const Parameters& setting, std::int64_t threads, std::int64_t bound,
                                                       std::int64_t blocks, std::int64_t block) {
  RunSetting numbers;
  for (const auto& [name, value] : setting) numbers.macros[name] = value;
  const auto set = [&](int parameter, const std::string& macro, std::int64_t value) {
    if (parameter >= 0)
      numbers.parameters[parameter] = value;
    else
      numbers.macros[macro] = value;
  };
  if (!found_.bound.empty()) set(found_.bound_parameter, found_.bound, bound);
  for (const OuterLoop& loop : elements_.loops()) set(loop.bound_parameter, loop.bound, kTurns);
  numbers.threads = threads;
  numbers.blocks = blocks;
  numbers.block = block;
  const BlockRun run = LockstepRun(tree_, found_.kernel, elements_, numbers).Run();
  if (!run.refusal.empty()) {
    Refuse(run.refusal);
    return std::nullopt;
  }
  if (!Add(run, block)) return std::nullopt;
  Taken taken;
  for (const auto& [place, part] : run.parts) taken[place.second] = part.value;
  return taken;
}

// What a run says about the statements that store. A part that several of them name is the same in all.
bool ReductionRuns::Add(const BlockRun& run, std::int64_t block) {
  for (const auto& [statement, output] : run.outputs) {
    Seen::Output& seen = seen_.outputs[statement];
    seen.own_place = seen.own_place && output.at == block;
    seen.once = seen.once && output.stores == 1;
  }
  std::map<int, std::uint64_t> elements;
  for (const auto& [place, part] : run.parts) {
    Seen::Part& seen = seen_.parts[place.second];
    seen.kinds |= part.value.kinds;
    seen.combines.insert(part.combines.begin(), part.combines.end());
    seen.initials.insert(part.initials.begin(), part.initials.end());
    seen.types.insert(part.types.begin(), part.types.end());
    seen.always_initial = seen.always_initial && part.value.initials != 0;
    if (elements.try_emplace(place.second, part.value.elements).first->second != part.value.elements)
      return Refuse("its threads store different results");
  }
  seen_.declarations.insert(run.declarations.begin(), run.declarations.end());
  return true;
}

// Whether all results together have exactly these elements. One that is not there has none.
bool ReductionRuns::AreElements(const Taken& taken, const Ranges& ranges) const {
  for (const auto& [node, part] : seen_.parts) {
    std::uint64_t expected = 0;
    for (std::size_t kind = 0; kind < elements_.kinds(); ++kind) {
      if ((part.kinds >> kind & 1u) == 0) continue;
      for (const auto& [begin, end] : ranges) expected += ElementsFrom(kind, elements_.loops().size(), begin, end);
    }
    const auto own = taken.find(node);
    if ((own == taken.end() ? 0 : own->second.elements) != expected) return false;
  }
  return true;
}

std::int64_t ReductionRuns::Turns() const { return std::int64_t{1} << elements_.loops().size(); }

// Blocks that take turns take as many elements in each; 0 if they take others.
std::int64_t ReductionRuns::TurnOf(const Parameters& setting, std::int64_t threads) {
  for (const std::int64_t times : {1, 2, 4, 8}) {
    const std::int64_t turn = times * threads, end = (7 * turn + turn / 2 + 1) * found_.grain.divided / found_.grain.times;
    const std::int64_t last = found_.grain.In(end);
    bool all = true;
    for (const std::int64_t blocks : {3, 2}) {
      for (std::int64_t block = 0; block < blocks && all; ++block) {
        const auto taken = Run(setting, threads, end, blocks, block);
        if (!taken) return 0;
        Ranges ranges;
        for (std::int64_t begin = block * turn; begin < last; begin += blocks * turn)
          ranges.emplace_back(begin, std::min(begin + turn, last));
        all = AreElements(*taken, ranges);
      }
    }
    if (all) return turn;
  }
  return 0;
}

// Without a bound: each block takes as many elements as the others, next to theirs.
bool ReductionRuns::ClassifyUnbounded(const Parameters& setting, std::int64_t threads) {
  std::int64_t part = -1;
  for (const std::int64_t blocks : {4, 3}) {
    for (std::int64_t block = 0; block < blocks; ++block) {
      const auto taken = Run(setting, threads, 0, blocks, block);
      if (!taken) return false;
      for (const auto& [node, one] : *taken) {
        const std::int64_t each = std::popcount(seen_.parts.at(node).kinds) * Turns();
        if (part < 0 && each > 0) part = one.count / each;
      }
      if (part <= 0) return Refuse("none of what it loads is in its result");
      if (!AreElements(*taken, block * part, (block + 1) * part)) return Refuse(std::string(kOtherElements));
    }
  }
  seen_.blocks = Reduction::Blocks::kOwnPart;
  seen_.part = part;
  return true;
}

bool ReductionRuns::ClassifyOne(const Parameters& setting, std::int64_t threads) {
  if (found_.bound.empty()) return ClassifyUnbounded(setting, threads);
  const auto unlike = [&] { return Refuse(why_.empty() || !why_.starts_with("its work") ? std::string(kOtherElements) : why_); };
  why_.clear();
  const auto& [divided, each_time] = found_.grain;
  // How many there may be to have so many elements, or a few more.
  const auto with = [&](std::int64_t elements) { return (elements + 1) * (divided / each_time) - 1; };
  const std::int64_t many = with(20 * threads + 3), of_many = found_.grain.In(many);
  const auto alone = Run(setting, threads, many, 1, 0);
  if (!alone) return false;
  const auto one = Run(setting, threads, divided, 1, 0);
  if (!one) return false;
  std::int64_t part = -1;
  for (const auto& [node, taken] : *alone) {
    const std::int64_t each = std::popcount(seen_.parts.at(node).kinds) * Turns();
    if (taken.count == 0) return Refuse("none of what it loads is in its result");
    if (taken.count % each != 0 || (part >= 0 && taken.count / each != part)) return unlike();
    part = taken.count / each;
  }
  if (part < 0) return Refuse("none of what it loads is in its result");
  if (!AreElements(*one, 0, each_time)) return unlike();
  if (AreElements(*alone, 0, of_many)) {
    const std::int64_t all = with(5 * threads + 3), of_all = found_.grain.In(all);
    Taken together;
    bool each = true;
    for (std::int64_t block = 0; block < 3; ++block) {
      const auto partial = Run(setting, threads, all, 3, block);
      if (!partial) return false;
      for (const auto& [node, taken] : *partial) together[node].elements += taken.elements;
      each = each && AreElements(*partial, 0, of_all);
    }
    if (!each && !AreElements(together, 0, of_all)) return unlike();
    seen_.turn = each ? 0 : TurnOf(setting, threads);
    seen_.blocks = each ? Reduction::Blocks::kAllOfThem : Reduction::Blocks::kShareAll;
    return true;
  }
  const std::int64_t bound = with(2 * part + part / 2 + 1), end = found_.grain.In(bound);
  for (std::int64_t block = 0; block < 4; ++block) {
    const auto own = Run(setting, threads, bound, 4, block);
    if (!own) return false;
    if (!AreElements(*own, std::min(block * part, end), std::min((block + 1) * part, end))) return unlike();
  }
  if (!AreElements(*alone, 0, part)) return unlike();
  // A part may grow with the number of elements where that is beyond all numbers of the code.
  for (const std::int64_t large : kLargeNumbers) {
    const auto first_part = Run(setting, threads, large, 4, 0);
    if (!first_part) return false;
    if (!AreElements(*first_part, 0, part)) return Refuse("its blocks take more elements each where there are more");
  }
  seen_.blocks = Reduction::Blocks::kOwnPart;
  seen_.part = part;
  return true;
}

}  // namespace evo
