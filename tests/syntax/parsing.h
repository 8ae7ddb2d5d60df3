#pragma once

#include <optional>
#include <string>

#include "platform/installation.h"
#include "syntax/syntax_tree.h"

namespace evo {

// One parser for the whole test program, because only its first parse is slow.
inline SyntaxParser& SharedParser() {
  // Never destroyed, because libclang's globals would be destroyed before it.
  static auto* const parser = new SyntaxParser({CudaRoot().value(), ShareDirectory() / "clang", ShareDirectory() / "syntax"});
  return *parser;
}

inline SyntaxTree ParseSource(const std::string& text) { return SharedParser().Parse(text); }

// The node of a kind whose text begins with `beginning`, after the first `skip` such nodes; -1 if there is none.
inline int NodeWith(const SyntaxTree& tree, const std::string& kind, const std::string& beginning, int skip = 0) {
  for (std::size_t i = 0; i < tree.nodes().size(); ++i) {
    const int node = static_cast<int>(i);
    if (tree.node(node).kind_name == kind && tree.Text(node).starts_with(beginning) && skip-- == 0) return node;
  }
  return -1;
}

}  // namespace evo
