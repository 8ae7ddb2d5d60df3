#pragma once

#include <optional>
#include <set>
#include <string>

namespace evo {

// A template's text with what stands in namespaces at the file's scope, and launch lines and names without them: mutators add
// kernels beside others and name them in launch lines.
struct FlatText {
  std::string text;
  std::set<std::string> namespaces;  // by their own names, without those around them
};

// nullopt if there is none, if one has another name besides, or if one has a function that is called like one of CUDA's. Whether
// other names clash is for a parser to say.
std::optional<FlatText> WithoutNamespaces(const std::string& text);

}  // namespace evo
