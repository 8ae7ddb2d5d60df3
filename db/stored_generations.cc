#include "db/stored_generations.h"

#include <utility>

namespace evo {

void StoredGenerations::Take(const std::function<void(GenerationRecord)>& visit) {
  std::vector<GenerationRecord> outlines = std::exchange(outlines_, {});
  std::vector<std::vector<GenomeParts>> parts = std::exchange(parts_, {});
  for (std::size_t i = 0; i < outlines.size(); ++i) {
    for (std::size_t j = 0; j < parts[i].size(); ++j) outlines[i].candidates[j].genome = parts[i][j].Whole();
    parts[i] = {};
    visit(std::move(outlines[i]));
  }
}

}  // namespace evo
