#include "mutators/analysis/attention/attention_guess.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "kernel_templates/brought_parameters.h"
#include "mutators/analysis/attention/attention_check.h"
#include "mutators/analysis/attention/derived_sizes.h"

namespace evo {
namespace {

std::int64_t ProductOfSizes(const std::vector<std::string>& names, const LaunchRuns::Sizes& sizes) {
  std::int64_t product = 1;
  for (const std::string& name : names) product *= sizes.at(name);
  return product;
}

// All choices of some names.
std::vector<std::vector<std::string>> SubsetsOf(const std::vector<std::string>& names) {
  std::vector<std::vector<std::string>> subsets;
  for (std::size_t chosen = 0; chosen < std::size_t{1} << names.size(); ++chosen) {
    subsets.emplace_back();
    for (std::size_t i = 0; i < names.size(); ++i) {
      if ((chosen >> i & 1) != 0) subsets.back().push_back(names[i]);
    }
  }
  return subsets;
}

// The choice of none.
std::vector<std::vector<std::string>> OnlyNone() { return std::vector<std::vector<std::string>>(1); }

// How many elements of a buffer were read, or stored.
std::int64_t CountIn(const std::map<std::string, BufferContents>& buffers, const std::string& name) {
  const auto found = buffers.find(name);
  return found == buffers.end() ? 0 : static_cast<std::int64_t>(found->second.size());
}

// The guesses that the numbers of elements of one run allow.
class GuessMaker {
 public:
  GuessMaker(const GuessedNames& names, const LaunchRuns::Sizes& sizes, const LaunchedRun& run)
      : names_(names), sizes_(sizes), run_(run) {}

  std::vector<AttentionGuess> All() {
    std::vector<std::string> rows = names_.sizes, keys = names_.sizes;
    rows.emplace_back();
    keys.insert(keys.end(), names_.increments.begin(), names_.increments.end());
    for (const std::string& output : names_.outputs) {
      for (const std::string& key : keys) {
        for (const std::string& row : rows) {
          AttentionGuess guess;
          guess.keys = key, guess.rows = row, guess.o = output;
          guess.packed = names_.inputs.size() == 1;
          if (!guess.packed || row == key) AddHeads(guess);
        }
      }
    }
    std::stable_sort(guesses_.begin(), guesses_.end(), [](const auto& a, const auto& b) { return CostOf(a) < CostOf(b); });
    return std::move(guesses_);
  }

 private:
  // By which the likely ones come first.
  static int CostOf(const AttentionGuess& guess) {
    return (guess.shares ? 1 : 0) + (guess.value_size.empty() ? 0 : 1) + (guess.room.empty() ? 0 : 2) +
           (guess.after.empty() ? 0 : 1) + (guess.output_inside == guess.inside ? 0 : 1) +
           (guess.rows.empty() && !guess.inside.empty() ? 1 : 0);
  }

  void AddHeads(AttentionGuess guess) {
    std::vector<std::string> others;
    for (const std::string& name : names_.sizes) {
      if (name != guess.keys && name != guess.rows) others.push_back(name);
    }
    others.insert(others.end(), names_.numbers.begin(), names_.numbers.end());
    auto subsets = SubsetsOf(others);
    std::reverse(subsets.begin(), subsets.end());
    std::vector<std::string> inputs = names_.inputs;
    std::sort(inputs.begin(), inputs.end());
    for (auto& heads : subsets) {
      guess.heads = std::move(heads);
      do {
        guess.q = inputs[0], guess.k = inputs[guess.packed ? 0 : 1], guess.v = inputs[guess.packed ? 0 : 2];
        AddDepths(guess, others);
      } while (std::next_permutation(inputs.begin(), inputs.end()));
    }
  }

  void AddDepths(AttentionGuess guess, const std::vector<std::string>& others) {
    const std::int64_t lines = ProductOfSizes(guess.heads, sizes_) * (guess.rows.empty() ? 1 : sizes_.at(guess.rows));
    const std::int64_t stored = CountIn(run_.stored, guess.o), read = CountIn(run_.read, guess.q);
    const std::int64_t times = guess.packed ? 3 : 1;
    if (lines == 0 || stored % lines != 0 || read % (lines * times) != 0 || stored == 0 || read == 0) return;
    guess.depth = read / (lines * times);
    const std::int64_t value_depth = stored / lines;
    std::vector<std::string> depths{""}, values{""};
    const auto add = [&](const std::string& name) {
      const bool of_heads = std::find(guess.heads.begin(), guess.heads.end(), name) != guess.heads.end();
      if (of_heads) return;
      if (sizes_.at(name) == guess.depth) depths.push_back(name);
      if (sizes_.at(name) == value_depth) values.push_back(name);
    };
    for (const auto& name : names_.sizes) add(name);
    for (const auto& name : names_.quotients) add(name);
    for (const std::string& depth : depths) {
      guess.depth_size = depth;
      for (const std::string& value : values) {
        // Other elements of values only where both are sizes.
        if (value.empty() ? value_depth != guess.depth : depth.empty() || depth == value || guess.packed) continue;
        guess.value_size = value;
        if (guess.packed)
          AddLayouts(guess);
        else
          AddKeyHeads(guess, others, value_depth);
      }
    }
  }

  void AddKeyHeads(AttentionGuess guess, const std::vector<std::string>& others, std::int64_t value_depth) {
    const std::int64_t keys = sizes_.at(guess.keys), read = CountIn(run_.read, guess.k), values = CountIn(run_.read, guess.v);
    if (keys * guess.depth == 0 || read % (keys * guess.depth) != 0 || values % (keys * value_depth) != 0) return;
    const std::int64_t heads = ProductOfSizes(guess.heads, sizes_), key_heads = read / (keys * guess.depth);
    if (key_heads == 0 || values / (keys * value_depth) != key_heads || heads % key_heads != 0) return;
    if (key_heads == heads) return AddRooms(guess);
    guess.shares = true;
    for (auto& names : SubsetsOf(others)) {
      if (ProductOfSizes(names, sizes_) != key_heads) continue;
      guess.key_heads = names;
      AddRooms(guess);
    }
  }

  void AddRooms(AttentionGuess guess) {
    AddLayouts(guess);
    const std::vector<std::string>& heads = guess.shares ? guess.key_heads : guess.heads;
    if (heads.empty() || !guess.rows.empty()) return;
    for (const std::string& name : names_.sizes) {
      if (name == guess.keys || sizes_.at(name) < sizes_.at(guess.keys) || name == guess.depth_size || name == guess.value_size ||
          std::find(heads.begin(), heads.end(), name) != heads.end())
        continue;
      guess.room = name;
      AddLayouts(guess);
    }
  }

  // With all choices of heads that may lie inside of the rows: none first.
  void AddLayouts(AttentionGuess guess) {
    for (const bool causal : {false, true}) {
      guess.causal = causal;
      if (causal && guess.rows.empty()) continue;
      for (const auto& inside : SubsetsOf(guess.heads)) {
        guess.inside = inside;
        guess.output_inside = inside;
        AddShared(guess);
        // Heads that the output alone has inside of its rows, or alone has not.
        if (guess.packed || guess.rows.empty()) continue;
        for (const auto& output : inside.empty() ? SubsetsOf(guess.heads) : OnlyNone()) {
          if (output == inside) continue;
          guess.output_inside = output;
          AddShared(guess);
        }
      }
    }
  }

  void AddShared(AttentionGuess guess) {
    for (const auto& inside : guess.shares ? SubsetsOf(guess.key_heads) : OnlyNone()) {
      guess.key_inside = inside;
      if (guess.shares) {
        const std::int64_t inner = ProductOfSizes(inside, sizes_), outer = ProductOfSizes(guess.key_heads, sizes_) / inner;
        const std::int64_t inner_heads = ProductOfSizes(guess.inside, sizes_);
        if (inner_heads % inner != 0 || ProductOfSizes(guess.heads, sizes_) / inner_heads % outer != 0) continue;
      }
      guess.after = "";
      guesses_.push_back(guess);
      if (!guess.causal || guess.rows == guess.keys) continue;
      guess.after = kKeysBefore;
      guesses_.push_back(guess);
      for (const std::string& name : names_.sizes) {
        if (guess.Names(name)) continue;
        guess.after = name;
        guesses_.push_back(guess);
      }
    }
  }

  const GuessedNames& names_;
  const LaunchRuns::Sizes& sizes_;
  const LaunchedRun& run_;
  std::vector<AttentionGuess> guesses_;
};

}  // namespace

std::vector<std::string> AttentionGuess::Outside() const {
  std::vector<std::string> outside = heads;
  std::erase_if(outside, [&](const std::string& name) { return std::find(inside.begin(), inside.end(), name) != inside.end(); });
  return outside;
}

AttentionShape AttentionGuess::ShapeWith(const LaunchRuns::Sizes& sizes) const {
  AttentionShape shape;
  shape.heads = ProductOfSizes(heads, sizes);
  shape.inside = ProductOfSizes(inside, sizes);
  shape.output_inside = ProductOfSizes(output_inside, sizes);
  shape.rows = rows.empty() ? 1 : sizes.at(rows);
  shape.keys = sizes.at(keys);
  shape.room = room.empty() ? shape.keys : sizes.at(room);
  shape.depth = depth_size.empty() ? depth : sizes.at(depth_size);
  shape.value_depth = value_size.empty() ? shape.depth : sizes.at(value_size);
  shape.causal = causal;
  if (!after.empty()) shape.after = after == kKeysBefore ? shape.keys - shape.rows : sizes.at(after);
  shape.packed = packed;
  if (!shares) return shape;
  const std::int64_t inner = ProductOfSizes(key_inside, sizes),
                     outer = ProductOfSizes(key_heads, sizes) / std::max<std::int64_t>(1, inner);
  shape.share_inside = std::max<std::int64_t>(1, shape.inside / std::max<std::int64_t>(1, inner));
  shape.share_outside = std::max<std::int64_t>(1, shape.heads / shape.inside / std::max<std::int64_t>(1, outer));
  return shape;
}

bool AttentionGuess::IsPlain() const {
  return !shares && room.empty() && after.empty() && value_size.empty() && extra.kind == ScoreExtra::Kind::kNone &&
         output_inside == inside && (!causal || rows == keys) && (!rows.empty() || (depth_size.empty() && inside.empty()));
}

bool AttentionGuess::Names(const std::string& name) const {
  std::vector<std::string> own{keys, rows, room, after, depth_size, value_size};
  own.insert(own.end(), heads.begin(), heads.end());
  own.insert(own.end(), key_heads.begin(), key_heads.end());
  return std::any_of(own.begin(), own.end(), [&](const std::string& one) {
    const std::vector<std::string> sizes = DerivedSizes::SizesOf(one);
    return std::find(sizes.begin(), sizes.end(), name) != sizes.end();
  });
}

bool AttentionGuess::HasElements(const LaunchRuns::Sizes& sizes, const LaunchedRun& run) const {
  const AttentionShape shape = ShapeWith(sizes);
  const std::int64_t lines = shape.heads * shape.rows;
  if (CountIn(run.stored, o) != lines * shape.value_depth) return false;
  if (packed) return CountIn(run.read, q) == lines * 3 * shape.depth;
  const std::int64_t of_keys = shape.heads / (shape.share_inside * shape.share_outside) * shape.keys;
  // Causal rows may all be before the last keys.
  const bool all = !causal || shape.SeenBy(shape.rows - 1) == shape.keys;
  return CountIn(run.read, q) == lines * shape.depth &&
         (all ? CountIn(run.read, k) == of_keys * shape.depth && CountIn(run.read, v) == of_keys * shape.value_depth
              : CountIn(run.read, v) <= of_keys * shape.value_depth);
}

bool AttentionGuess::HasLastRow(const LaunchRuns::Sizes& sizes, const LaunchedRun& run) const {
  const AttentionShape shape = ShapeWith(sizes);
  const BufferContents& stored = run.stored.at(o);
  return !stored.empty() && stored.rbegin()->first >= shape.OutputIndex(shape.heads - 1, shape.rows - 1, 0);
}

std::vector<AttentionGuess> GuessesIn(const GuessedNames& names, const LaunchRuns::Sizes& sizes, const LaunchedRun& run) {
  return GuessMaker(names, sizes, run).All();
}

AttentionDefinition DefinitionOf(const SourceRuns& runs, const AttentionGuess& guess, const LaunchTrial& trial) {
  const auto elements = [&](const std::string& buffer) { return runs.ElementsOf(trial, buffer); };
  const AttentionShape shape = guess.ShapeWith(trial.sizes);
  AttentionDefinition definition(shape, elements(guess.q), elements(guess.k), elements(guess.v));
  if (guess.extra.kind != ScoreExtra::Kind::kNone)
    definition.Add(guess.extra.TermOf(shape, trial.sizes, elements(guess.extra.buffer)), guess.extra.scaled);
  return definition;
}

const std::map<std::string, double>& ScalesOfRun::For(const AttentionGuess& guess, const LaunchRuns::Sizes& sizes) {
  const std::int64_t depth = guess.ShapeWith(sizes).depth;
  const bool is_size = !guess.depth_size.empty();
  const auto [one, fresh] = by_depth_.try_emplace({depth, is_size});
  if (!fresh) return one->second;
  std::map<std::string, double>& scales = one->second;
  const double root = 1 / std::sqrt(static_cast<double>(depth));
  if (!is_size) {
    scales = plain_;
    scales.try_emplace(fmt::format("rsqrtf({}.0f)", depth), root);
    return scales;
  }
  scales[fmt::format("rsqrtf((float){})", kDepthWord)] = root;
  for (const auto& [text, value] : plain_)
    scales.try_emplace(WithOtherName(text, fmt::format("{}.0f", depth), fmt::format("(float){}", kDepthWord)), value);
  return scales;
}

std::set<std::string> ScalesThatHold(const SourceRuns& runs, const AttentionGuess& guess, const LaunchTrial& trial,
                                     const LaunchedRun& run, ScalesOfRun& scales) {
  std::set<std::string> hold;
  const BufferContents& stored = run.stored.at(guess.o);
  const AttentionDefinition definition = DefinitionOf(runs, guess, trial);
  const std::int64_t row = std::min<std::int64_t>(guess.ShapeWith(trial.sizes).rows - 1, 1);
  std::map<double, bool> known;
  for (const auto& [text, scale] : scales.For(guess, trial.sizes)) {
    if (!guess.scales.empty() && !guess.scales.contains(text)) continue;
    const auto [one, fresh] = known.try_emplace(scale, false);
    if (fresh) one->second = definition.HoldsFor(stored, scale, 0, row) && definition.HoldsFor(stored, scale);
    if (one->second) hold.insert(text);
  }
  return hold;
}

bool FindStatistics(const SourceRuns& runs, const std::vector<std::string>& outputs, const LaunchTrial& trial,
                    const LaunchedRun& run, AttentionGuess& guess) {
  if (outputs.size() == 1) return true;
  if (outputs.size() > kMostBeside + 1 || !guess.inside.empty() || guess.packed) return false;
  std::map<std::string, BufferContents> stored;
  std::map<std::string, AttentionDefinition::Elements> starts;
  for (const std::string& buffer : outputs) {
    if (buffer == guess.o) continue;
    const auto elements = run.stored.find(buffer);
    if (elements == run.stored.end() || elements->second.empty()) return false;
    stored[buffer] = elements->second;
    const auto read = run.read.find(buffer);
    if (read != run.read.end() && !read->second.empty() && !run.filled.contains(buffer))
      starts[buffer] = runs.ElementsOf(trial, buffer);
  }
  const double scale = ScaleNamed(*guess.scales.begin(), guess, trial, run);
  const std::string started = starts.empty() ? "" : starts.begin()->first;
  if (!guess.beside.empty() && started != guess.started) return false;
  if (guess.beside.empty()) guess.beside = PossibleStatistics(stored);
  guess.beside = DefinitionOf(runs, guess, trial).StatisticsOf(std::move(guess.beside), stored, starts, scale);
  guess.started = started;
  return !guess.beside.empty();
}

double ScaleNamed(const std::string& text, const AttentionGuess& guess, const LaunchTrial& trial, const LaunchedRun& run) {
  return ScalesOfRun(run.knowledge).For(guess, trial.sizes).at(text);
}

}  // namespace evo
