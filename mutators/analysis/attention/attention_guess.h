#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "mutators/analysis/attention/attention_definition.h"
#include "mutators/analysis/attention/score_extra.h"
#include "mutators/analysis/grid_runs/source_runs.h"

namespace evo {

// A word for the number of elements of a row, where a size decides it.
inline constexpr const char* kDepthWord = "DEPTH_";

// Which sizes and buffers the attention of a source's launches may have, and by which texts scores may be multiplied.
struct AttentionGuess {
  std::string keys, rows;                          // rows: empty for one
  std::vector<std::string> heads;                  // sizes of which they are the product
  std::vector<std::string> inside;                 // those of them that lie inside of the rows
  std::vector<std::string> output_inside;          // the same of the output
  bool shares = false;                             // whether several heads share keys and values
  std::vector<std::string> key_heads, key_inside;  // then: those that keys and values have
  std::string room;                                // lines of a head's keys and values; empty: the keys
  std::string after;                               // of causal rows: a size, or kKeysBefore; empty: none
  std::int64_t depth = 0;
  std::string depth_size;  // the size that decides it; empty: none
  std::string value_size;  // the size that decides how many elements rows of values have; empty: the same
  std::string q, k, v, o;
  bool causal = false;
  bool packed = false;  // whether queries, keys and values are in one buffer
  ScoreExtra extra{};
  std::set<std::string> scales;
  std::vector<AttentionDefinition::Statistics> beside{};  // what other outputs may have of each row's scores
  std::string started;                                    // which of them begins with what is there; empty: none

  // The heads that do not.
  std::vector<std::string> Outside() const;
  AttentionShape ShapeWith(const LaunchRuns::Sizes& sizes) const;
  // Whether it is more than matrices [heads, rows or keys, depth].
  bool IsPlain() const;
  // Whether a size is one of a matrix.
  bool Names(const std::string& name) const;
  // Whether the numbers of elements are those of a run.
  bool HasElements(const LaunchRuns::Sizes& sizes, const LaunchedRun& run) const;
  // Whether it stored elements of the last row of all.
  bool HasLastRow(const LaunchRuns::Sizes& sizes, const LaunchedRun& run) const;
};

// What `after` is where the last row sees all keys.
inline constexpr const char* kKeysBefore = "keys - rows";

// What guesses are made of: sizes, three buffers that are read or one, some that are stored, and of what heads, keys and elements
// of a row may be, too (derived_sizes.h).
struct GuessedNames {
  std::vector<std::string> sizes, inputs, outputs;
  std::vector<std::string> numbers, quotients, increments;
};
// Those that the numbers of elements allow: the plain ones first.
std::vector<AttentionGuess> GuessesIn(const GuessedNames& names, const LaunchRuns::Sizes& sizes, const LaunchedRun& run);

AttentionDefinition DefinitionOf(const SourceRuns& runs, const AttentionGuess& guess, const LaunchTrial& trial);
// What scores may be multiplied by in a run, by the text that says it. Made once for all guesses: making it takes longer than
// refusing one.
class ScalesOfRun {
 public:
  explicit ScalesOfRun(const ThreadTrace& knowledge) : plain_(ScalesIn(knowledge)) {}
  // Valid as long as the object.
  const std::map<std::string, double>& For(const AttentionGuess& guess, const LaunchRuns::Sizes& sizes);

 private:
  std::map<std::string, double> plain_;
  // By the number of elements of a row, and whether a size decides it: then it is no number in the text.
  std::map<std::pair<std::int64_t, bool>, std::map<std::string, double>> by_depth_;
};

// The texts with which a run is what a guess says, of its own if it has some.
std::set<std::string> ScalesThatHold(const SourceRuns& runs, const AttentionGuess& guess, const LaunchTrial& trial,
                                     const LaunchedRun& run, ScalesOfRun& scales);
// Whether the outputs beside that of a guess, if there are some, have each row's logarithm of its sum, or its largest score or
// its sum of weights: those that the guess says, if it says some. It gets them.
bool FindStatistics(const SourceRuns& runs, const std::vector<std::string>& outputs, const LaunchTrial& trial,
                    const LaunchedRun& run, AttentionGuess& guess);
// What such a text is in a run.
double ScaleNamed(const std::string& text, const AttentionGuess& guess, const LaunchTrial& trial, const LaunchedRun& run);

}  // namespace evo
