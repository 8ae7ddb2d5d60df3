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

// The classes of a kernel by the resources of the device that it uses.
using Cell = std::array<int, 3>;

// Classes of the registers per thread, the shared memory per block and the occupancy. The number of blocks that fit on a
// multiprocessor changes at the classes' borders, for usual block sizes. -1: not known on this device.
Cell ResourceCell(const Candidate& candidate, const Evaluation& evaluation);

// MAP-Elites (Mouret and Clune, 2015): the fastest candidate of every cell survives, so that the search keeps kernels that use
// the device in different ways. While there are fewer cells than `capacity`, the fastest other candidates fill the population. On
// a device without resource figures this is the elitist population. Of equal programs only the first counts.
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
  std::set<std::string> programs_;  // of all candidates that were ever ok
};

}  // namespace evo
