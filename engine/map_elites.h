#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/population.h"

namespace evo {

// The classes of what a kernel uses of the device.
using Cell = std::array<int, 3>;

// Registers per thread, shared memory per block and occupancy, each in classes whose borders are those at which the number of
// blocks that fit a multiprocessor changes for usual block sizes. -1: not known on this device.
Cell ResourceCell(const Candidate& candidate, const Evaluation& evaluation);

// MAP-Elites (Mouret and Clune, 2015): the fastest candidate of every cell, so that the search keeps kernels of every way to use
// the device. While there are fewer cells than `capacity`, the next fastest of all fill the population up, so that a device that
// knows no resources is searched as by the elitist population. Of equal programs only the first counts.
class MapElitesPopulation : public Population {
 public:
  using CellOf = std::function<Cell(const Candidate&, const Evaluation&)>;

  explicit MapElitesPopulation(std::size_t capacity, CellOf cell_of = ResourceCell);
  void Survive(const std::vector<Candidate>& candidates, const std::vector<Evaluation>& evaluations) override;
  const std::vector<Individual>& members() const override { return members_; }
  std::size_t cells() const { return elites_.size(); }

 private:
  std::size_t capacity_;
  CellOf cell_of_;
  std::map<Cell, Individual> elites_;
  ElitistPopulation fastest_;
  std::vector<Individual> members_;
  std::set<std::string> programs_;  // of everything that was ever ok
};

}  // namespace evo
