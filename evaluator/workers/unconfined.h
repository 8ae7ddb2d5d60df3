#pragma once

#include <nlohmann/json.hpp>
#include <set>
#include <string>

namespace evo {

// Layers of the confinement that a worker lacks, each a line with the reason, as its "ready" says. A worker may send anything:
// what is not a list of texts reads as nothing.
inline std::set<std::string> UnconfinedIn(const nlohmann::json& ready) {
  std::set<std::string> layers;
  if (!ready.is_object()) return layers;
  const auto found = ready.find("unconfined");
  if (found == ready.end() || !found->is_array()) return layers;
  for (const auto& layer : *found) {
    if (layer.is_string()) layers.insert(layer.get<std::string>());
  }
  return layers;
}

}  // namespace evo
