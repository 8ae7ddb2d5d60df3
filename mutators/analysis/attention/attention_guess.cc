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

// With all choices of heads that may lie inside of the rows: none first.
void AddLayouts(AttentionGuess guess, std::vector<AttentionGuess>& guesses) {
  const std::size_t ways = guess.rows.empty() ? 1 : std::size_t{1} << guess.heads.size();
  for (std::size_t chosen = 0; chosen < ways; ++chosen) {
    guess.inside.clear();
    for (std::size_t i = 0; i < guess.heads.size(); ++i) {
      if ((chosen >> i & 1) != 0) guess.inside.push_back(guess.heads[i]);
    }
    guesses.push_back(guess);
  }
}

// With all choices of sizes for the heads and for the elements of a row.
void AddGuesses(AttentionGuess guess, const GuessedNames& names, const LaunchRuns::Sizes& sizes, const LaunchedRun& run,
                std::vector<AttentionGuess>& guesses) {
  std::vector<std::string> others, inputs = names.inputs;
  guess.packed = inputs.size() == 1;
  if (guess.packed && guess.rows != guess.keys) return;
  for (const std::string& name : names.sizes) {
    if (name != guess.keys && name != guess.rows) others.push_back(name);
  }
  const std::size_t sizes_only = others.size();
  others.insert(others.end(), names.numbers.begin(), names.numbers.end());
  std::sort(inputs.begin(), inputs.end());
  for (std::size_t chosen = std::size_t{1} << others.size(); chosen-- > 0;) {
    guess.heads.clear();
    std::vector<std::string> depths{""};
    for (std::size_t i = 0; i < others.size(); ++i) {
      if ((chosen >> i & 1) != 0)
        guess.heads.push_back(others[i]);
      else if (i < sizes_only)
        depths.push_back(others[i]);
    }
    depths.insert(depths.end(), names.quotients.begin(), names.quotients.end());
    guess.inside.clear();
    guess.depth_size = "", guess.depth = 1;
    const AttentionShape shape = guess.ShapeWith(sizes);
    guess.depth = static_cast<std::int64_t>(run.stored.at(guess.o).size()) / (shape.heads * shape.rows);
    for (const std::string& depth : depths) {
      guess.depth_size = depth;
      do {
        guess.q = inputs[0], guess.k = inputs[guess.packed ? 0 : 1], guess.v = inputs[guess.packed ? 0 : 2];
        for (const bool causal : {false, true}) {
          guess.causal = causal;
          if (guess.HasElements(sizes, run)) AddLayouts(guess, guesses);
        }
      } while (std::next_permutation(inputs.begin(), inputs.end()));
    }
  }
}

// What scores may be multiplied by in a run: the number of elements of a row is no number in it.
std::map<std::string, double> ScalesWith(const AttentionGuess& guess, const LaunchRuns::Sizes& sizes, const LaunchedRun& run) {
  std::map<std::string, double> scales = ScalesIn(run.knowledge);
  const std::int64_t depth = guess.ShapeWith(sizes).depth;
  const double root = 1 / std::sqrt(static_cast<double>(depth));
  if (guess.depth_size.empty()) return scales.try_emplace(fmt::format("rsqrtf({}.0f)", depth), root), scales;
  std::map<std::string, double> of_depth{{fmt::format("rsqrtf((float){})", kDepthWord), root}};
  for (const auto& [text, value] : scales)
    of_depth.try_emplace(WithOtherName(text, fmt::format("{}.0f", depth), fmt::format("(float){}", kDepthWord)), value);
  return of_depth;
}

}  // namespace

std::vector<std::string> AttentionGuess::Outside() const {
  std::vector<std::string> outside = heads;
  std::erase_if(outside, [&](const std::string& name) { return std::find(inside.begin(), inside.end(), name) != inside.end(); });
  return outside;
}

AttentionShape AttentionGuess::ShapeWith(const LaunchRuns::Sizes& sizes) const {
  AttentionShape shape;
  for (const std::string& name : heads) shape.heads *= sizes.at(name);
  for (const std::string& name : inside) shape.inside *= sizes.at(name);
  shape.rows = rows.empty() ? 1 : sizes.at(rows);
  shape.keys = sizes.at(keys);
  shape.depth = depth_size.empty() ? depth : sizes.at(depth_size);
  shape.causal = causal;
  shape.packed = packed;
  return shape;
}

bool AttentionGuess::Names(const std::string& name) const {
  const std::vector<std::string> of_depth = DerivedSizes::SizesOf(depth_size);
  return name == keys || name == rows || std::find(of_depth.begin(), of_depth.end(), name) != of_depth.end() ||
         std::find(heads.begin(), heads.end(), name) != heads.end();
}

bool AttentionGuess::HasElements(const LaunchRuns::Sizes& sizes, const LaunchedRun& run) const {
  const AttentionShape shape = ShapeWith(sizes);
  const auto has = [&](const std::map<std::string, BufferContents>& buffers, const std::string& name, std::int64_t lines) {
    const auto found = buffers.find(name);
    return found != buffers.end() && static_cast<std::int64_t>(found->second.size()) == shape.heads * lines * shape.depth;
  };
  if (packed) return has(run.stored, o, shape.rows) && has(run.read, q, shape.rows * 3);
  return has(run.stored, o, shape.rows) && has(run.read, q, shape.rows) && has(run.read, k, shape.keys) &&
         has(run.read, v, shape.keys);
}

bool AttentionGuess::HasLastRow(const LaunchRuns::Sizes& sizes, const LaunchedRun& run) const {
  const AttentionShape shape = ShapeWith(sizes);
  const BufferContents& stored = run.stored.at(o);
  return !stored.empty() && stored.rbegin()->first >= shape.IndexOf(shape.heads - 1, shape.rows - 1, shape.rows, 0);
}

std::vector<AttentionGuess> GuessesIn(const GuessedNames& names, const LaunchRuns::Sizes& sizes, const LaunchedRun& run) {
  std::vector<AttentionGuess> guesses;
  std::vector<std::string> rows = names.sizes;
  rows.emplace_back();
  for (const std::string& output : names.outputs) {
    for (const std::string& key : names.sizes) {
      for (const std::string& row : rows) {
        AttentionGuess guess;
        guess.keys = key, guess.rows = row, guess.o = output;
        AddGuesses(guess, names, sizes, run, guesses);
      }
    }
  }
  return guesses;
}

AttentionDefinition DefinitionOf(const SourceRuns& runs, const AttentionGuess& guess, const LaunchTrial& trial) {
  const auto elements = [&](const std::string& buffer) { return runs.ElementsOf(trial, buffer); };
  return {guess.ShapeWith(trial.sizes), elements(guess.q), elements(guess.k), elements(guess.v)};
}

std::set<std::string> ScalesThatHold(const SourceRuns& runs, const AttentionGuess& guess, const LaunchTrial& trial,
                                     const LaunchedRun& run) {
  std::set<std::string> hold;
  const BufferContents& stored = run.stored.at(guess.o);
  const AttentionDefinition definition = DefinitionOf(runs, guess, trial);
  const std::int64_t row = std::min<std::int64_t>(guess.ShapeWith(trial.sizes).rows - 1, 1);
  std::map<double, bool> known;
  for (const auto& [text, scale] : ScalesWith(guess, trial.sizes, run)) {
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
  return ScalesWith(guess, trial.sizes, run).at(text);
}

}  // namespace evo
