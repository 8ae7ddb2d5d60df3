#include "mutators/parallelism/stencils/stencil_names.h"

#include <algorithm>
#include <map>

#include "kernel_templates/brought_parameters.h"
#include "mutators/analysis/source/convolution_parts.h"
#include "mutators/analysis/source/source_query.h"

namespace evo {

StencilNames::StencilNames(const SyntaxTree& tree, const Stencil& found) : tree_(tree), found_(found) { FindCoordinates(); }

// The coordinates have the names of the kernel's variables that are one, if these are plain.
void StencilNames::FindCoordinates() {
  std::map<std::size_t, int> own;
  for (const auto& [variable, role] : found_.roles) {
    const SyntaxNode& declared = tree_.node(variable);
    if (!role.IsCoordinate() || role.shift != 0 || WithoutConst(declared.type) != "int") continue;
    const auto nodes = Subtree(tree_, found_.kernel);
    const auto same = std::count_if(nodes.begin(), nodes.end(), [&](int node) {
      const SyntaxNode& other = tree_.node(node);
      return other.name == declared.name && (other.kind_name == "VarDecl" || other.kind_name == "ParmDecl");
    });
    if (same != 1 || tree_.node(declared.parent).children.size() != 1) continue;
    coordinates_[role.axis] = declared.name;  // that of the last one
    own[role.axis] = declared.parent;
  }
  for (const auto& [axis, statement] : own) declarations_.push_back(statement);
  const char* const kNames[] = {"column", "row", "plane"};
  for (std::size_t axis = 0; axis < found_.dimensions; ++axis) {
    if (coordinates_[axis].empty()) coordinates_[axis] = Own(kNames[axis]);
  }
}

std::string StencilNames::Own(std::string_view wanted) const {
  std::string taken(tree_.Text(found_.kernel));
  const std::string& text = tree_.text();
  for (std::size_t at = text.find("#define "); at != std::string::npos; at = text.find("#define ", at + 1))
    taken += text.substr(at, text.find('\n', at) + 1 - at);
  return UnusedName(taken, std::string(wanted));
}

std::string StencilNames::Function(std::string_view wanted) const { return UnusedName(tree_.text(), std::string(wanted)); }

std::string StencilNames::Counter(const char* wanted) const {
  const SyntaxNode& kernel = tree_.node(found_.kernel);
  std::string taken(tree_.Text({kernel.range.begin, tree_.node(kernel.children.back()).range.begin}));
  for (const std::string& coordinate : coordinates_) taken += " " + coordinate;
  return UnusedName(taken, wanted);
}

std::string StencilNames::First(std::size_t axis) const {
  return Own(axis == found_.dimensions - 1 ? "first" : axis == 0 ? "first_x" : "first_y");
}

std::string StencilNames::TypeOf(int buffer) const {
  const std::string type = PointedTo(tree_, buffer);
  return type == "__half" ? "half" : type;
}

std::string StencilNames::Window(int buffer) const {
  return found_.buffers.size() == 1 ? Own("around") : Own("around_" + tree_.node(buffer).name);
}

std::string StencilNames::Staged(int buffer) const {
  return found_.buffers.size() == 1 ? Own("staged") : Own("staged_" + tree_.node(buffer).name);
}

std::string StencilNames::Results(int buffer) const {
  return found_.stored.size() == 1 ? Own("results") : Own("results_" + tree_.node(buffer).name);
}

}  // namespace evo
