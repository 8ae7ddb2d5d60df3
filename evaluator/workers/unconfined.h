#pragma once

#include <nlohmann/json.hpp>
#include <set>
#include <string>

namespace evo {

// Layers of the confinement that a worker lacks, each a line with the reason, as its "ready" says. A worker may send anything:
// one that gives no list of texts, such as that of another version, counts as not confined.
inline std::set<std::string> UnconfinedIn(const nlohmann::json& ready) {
  const std::string unknown = "a worker does not say how it is confined; is evo-worker of another version?";
  const auto found = ready.is_object() ? ready.find("unconfined") : ready.end();
  if (found == ready.end() || !found->is_array()) return {unknown};
  std::set<std::string> layers;
  for (const auto& layer : *found) layers.insert(layer.is_string() ? layer.get<std::string>() : unknown);
  return layers;
}

}  // namespace evo
