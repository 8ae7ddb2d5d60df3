#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "core/store.h"
#include "engine/operator_selection.h"
#include "engine/population.h"

namespace evo {

// Sees when a search stands still, and remembers where else it could go on: the fastest candidate of each structure, and how many
// settings of its parameters were tried. Survivors that differ by edits without effect are all of the fastest one's structure
// before long. A function of the generations learnt.
class Standstill {
 public:
  // A search stands still when so many candidates in a row, or two generations, were no faster by kLeastGain than the fastest
  // before them.
  static constexpr std::size_t kPatience = 64;
  static constexpr double kLeastGain = 0.01;
  // A structure whose fastest candidate takes this many times as long is left alone.
  static constexpr double kMostSlower = 2;
  // What a structure is worth is known once so many settings of its parameters were tried.
  static constexpr std::size_t kSettings = 12;

  // `children` are those of a generation, at most.
  explicit Standstill(int children) : patience_(std::max(kPatience, 2 * static_cast<std::size_t>(children))) {}

  // Generations must come in order, from 0. With `baseline_apart` the first candidate of generation 0 is none to go on from, as
  // long as another one of it is ok.
  void Learn(const GenerationRecord& record, const OperatorSelection& selection, bool baseline_apart = false);

  bool Stands() const { return since_ >= patience_; }
  // Whether it stands still since the generation that was learnt last.
  bool Begins() const { return Stands() && since_ - latest_ < patience_; }
  // Of each structure but the fastest one's, the fastest candidate, fastest first. Valid until the next call of Learn.
  std::vector<const Individual*> Elsewhere() const;
  // Those of them with parameters that an edit brought, of which fewer settings than kSettings were tried.
  std::vector<const Individual*> Untuned() const;

 private:
  struct Structure {
    Individual fastest;
    std::size_t settings = 0;  // that were tried, right or not
  };
  std::vector<const Structure*> Others() const;

  std::size_t patience_;
  std::map<std::string, Structure> structures_;  // those with a right candidate
  double to_beat_ = std::numeric_limits<double>::infinity();
  std::size_t since_ = 0;   // candidates since one was faster
  std::size_t latest_ = 0;  // of these, those of the latest generation
};

}  // namespace evo
