#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "core/store.h"
#include "db/genome_parts.h"

namespace evo {

// The generations of a run, in order, read and checked at one moment. Genomes share their edits until they are put together, one
// generation after another, because a long run that is whole takes gigabytes.
class StoredGenerations {
 public:
  StoredGenerations() = default;
  // parts[i][j] is of outlines[i].candidates[j].
  StoredGenerations(std::vector<GenerationRecord> outlines, std::vector<std::vector<GenomeParts>> parts)
      : outlines_(std::move(outlines)), parts_(std::move(parts)) {}

  std::size_t size() const { return outlines_.size(); }
  // Without parameters and edits.
  const std::vector<GenerationRecord>& outlines() const { return outlines_; }
  // Gives them whole, one after another, and keeps none.
  void Take(const std::function<void(GenerationRecord)>& visit);

 private:
  std::vector<GenerationRecord> outlines_;
  std::vector<std::vector<GenomeParts>> parts_;
};

}  // namespace evo
