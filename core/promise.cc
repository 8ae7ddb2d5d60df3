#include "core/promise.h"

#include <array>

namespace evo {

std::string_view ToString(Promise promise) {
  constexpr std::array<std::string_view, 4> kNames{"exact", "reassociating", "inherited", "unproven"};
  return kNames.at(static_cast<std::size_t>(promise));
}

Promise PromiseOf(const Promises& promises, const std::string& op) {
  const auto found = promises.find(op);
  return found == promises.end() ? Promise::kUnproven : found->second;
}

std::vector<const Edit*> UnprovenEdits(const Genome& genome, const Promises& promises) {
  std::vector<const Edit*> unproven;
  for (const Edit& edit : genome.edits) {
    if (PromiseOf(promises, edit.op) == Promise::kUnproven) unproven.push_back(&edit);
  }
  return unproven;
}

}  // namespace evo
