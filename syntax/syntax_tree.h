#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/genome.h"

namespace evo {

// Where the parser finds what it includes.
struct SyntaxPaths {
  std::filesystem::path cuda_root;         // the toolkit
  std::filesystem::path clang_resources;   // clang 16's resource directory
  std::filesystem::path headers;           // what newer toolkits no longer have but clang asks for
};

// Half-open byte range of a source text.
struct SourceRange {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  std::uint32_t size() const { return end - begin; }
  bool operator==(const SourceRange&) const = default;
};

// Kinds of nodes that libclang has no cursor for, found in the text: the line of a pragma right above a loop (the loop's sibling before it),
// a function's `__launch_bounds__(...)` and a function's name in its own definition (children of the function).
inline constexpr int kPragmaNode = -1;
inline constexpr int kLaunchBoundsNode = -2;
inline constexpr int kFunctionNameNode = -3;

// One node of a tree. Indices refer to SyntaxTree::nodes(); the root is node 0. Ranges are those of the spelled text; a statement's
// range includes its `;`. Nodes spelled inside a macro body, or outside the main file, are not in the tree.
struct SyntaxNode {
  int kind = 0;                    // CXCursorKind, or one of the above
  std::string kind_name;           // "ForStmt"
  std::string name;                // of the declaration or of what is referred to; else empty
  std::string type;                // canonical spelling of an expression's or a declaration's type; else empty
  bool is_expression = false;
  bool is_statement = false;       // also an expression that stands as a statement
  SourceRange range;
  int parent = -1;
  std::vector<int> children;
  int function = -1;               // node of the enclosing function definition
  int refers_to = -1;              // node of the declaration a name refers to, if it is in this file
};

// The syntax tree of one CUDA source, flattened to values: safe to keep, costs no libclang memory.
class SyntaxTree {
 public:
  const std::string& text() const { return text_; }
  const std::vector<SyntaxNode>& nodes() const { return nodes_; }
  std::string_view Text(int node) const;
  const SyntaxNode& node(int index) const { return nodes_[static_cast<std::size_t>(index)]; }
  // Every node below `index`, in source order, `index` itself left out.
  std::vector<int> Descendants(int index) const;
  // Nearest ancestor of that kind; -1 if there is none.
  int AncestorOfKind(int index, std::string_view kind_name) const;
  // Error diagnostics, "line:column: message"; empty if the source parsed cleanly.
  const std::vector<std::string>& errors() const { return errors_; }

  Anchor AnchorOf(int node) const;
  // The node that an anchor names, or nullopt if there is none or more than one.
  std::optional<int> Find(const Anchor& anchor) const;

 private:
  friend class SyntaxParser;
  friend class TreeBuilder;
  std::string TokenDigest(int node) const;
  int Sibling(int node, int offset) const;
  std::string FunctionOf(int node) const;

  std::string text_;
  std::vector<SyntaxNode> nodes_;
  std::vector<std::string> errors_;
};

// Parses CUDA sources with libclang 16, device side, sm_90. Keeps one translation unit with a precompiled preamble, so a source
// with the same includes as the one before costs a reparse (50 ms) and not a parse (600 ms). Not thread-safe; can crash on evolved
// text, so it lives in worker processes only.
class SyntaxParser {
 public:
  explicit SyntaxParser(SyntaxPaths paths);
  ~SyntaxParser();
  SyntaxParser(const SyntaxParser&) = delete;
  SyntaxParser& operator=(const SyntaxParser&) = delete;

  // Throws Error when libclang cannot work at all (headers missing); errors of the source are in the tree.
  SyntaxTree Parse(const std::string& text);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// A text without comments, white space only where two words would otherwise run together: what a digest of tokens is taken of.
std::string SpelledTokens(std::string_view text);

}  // namespace evo
