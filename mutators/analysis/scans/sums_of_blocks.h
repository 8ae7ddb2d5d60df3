#pragma once

#include <cstdint>
#include <optional>

#include "mutators/mutator.h"

namespace evo {

// One launch of several has one block whatever the size is, and scans so many sums as the size says: those of the blocks of
// another launch. Whether it does so for many of them, too, is found by running it alone.
class SumsOfBlocks {
 public:
  // `others`: values of sizes besides this one. The context outlives the object.
  SumsOfBlocks(const MutationContext& context, const LaunchDirective& launch, std::string size, Parameters others)
      : context_(context), launch_(launch), size_(std::move(size)), others_(std::move(others)) {}

  // The most elements for which it scans all the sums that there are; 0 if there is no such limit, or if it is no such launch.
  // `tile`: elements for one sum.
  std::int64_t MostElements(std::int64_t tile) const;

 private:
  // How many sums it scans with so many elements; nullopt if it does anything else.
  std::optional<std::int64_t> SumsWith(const MutationContext& alone, std::int64_t elements) const;
  bool Scans(const MutationContext& alone, std::int64_t tile, std::int64_t sums) const;

  const MutationContext& context_;
  const LaunchDirective& launch_;
  std::string size_;
  Parameters others_;
};

}  // namespace evo
