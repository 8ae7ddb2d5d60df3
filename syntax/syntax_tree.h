#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/genome.h"
#include "syntax/token.h"

namespace evo {

// Where the parser finds what it includes.
struct SyntaxPaths {
  std::filesystem::path cuda_root;        // the toolkit
  std::filesystem::path clang_resources;  // clang 16's resource directory
  std::filesystem::path headers;          // ShareDirectory()/"syntax": stand-ins for headers that CUDA 13 dropped
};

inline constexpr const char* kPragmaKind = "Pragma";

// One node of a tree. Indices refer to SyntaxTree::nodes(); the root is node 0, and what is below a node follows it without a
// gap. Ranges are those of the spelled text; a statement's range includes its `;`. Nodes outside the main file are not in the
// tree. A macro call is one node without children, of the kind of what it expands to. Implicit conversions are no nodes: they
// show as `converted` of what is converted.
struct SyntaxNode {
  int kind = 0;           // CXCursorKind
  std::string kind_name;  // "ForStmt"
  std::string name;       // of the declaration or of what is referred to; else empty
  std::string type;       // canonical spelling of an expression's or a declaration's type; else empty
  SourceRange range;
  int parent = -1;
  std::vector<int> children;
  int function = -1;   // node of the enclosing function definition
  int refers_to = -1;  // node of the declaration a name refers to, if it is in this file
  // Of a macro call, whose parts are no nodes: the declarations of this file that it names, and whether it may do more than stand
  // for a constant. Who asks what code reads, writes or calls must ask this, too.
  std::vector<int> hidden;
  bool opaque = false;
  bool converted = false;  // implicitly converted: of an lvalue of scalar type, this says that it is read
};

// The syntax tree of one CUDA source, flattened to values: safe to keep, costs no libclang memory.
class SyntaxTree {
 public:
  const std::string& text() const { return text_; }
  const std::vector<SyntaxNode>& nodes() const { return nodes_; }
  const SyntaxNode& node(int index) const { return nodes_[static_cast<std::size_t>(index)]; }
  // One past the last node below a node.
  int EndOf(int node) const;
  // The nodes that name a declaration, in source order: by a DeclRefExpr, or hidden in a macro call.
  const std::vector<int>& UsesOf(int declaration) const { return uses_[static_cast<std::size_t>(declaration)]; }
  std::string_view Text(int node) const { return Text(nodes_[static_cast<std::size_t>(node)].range); }
  std::string_view Text(const SourceRange& range) const { return std::string_view(text_).substr(range.begin, range.size()); }
  // Error diagnostics, "line:column: message"; empty if the source parsed cleanly. Not among them: device code that calls the
  // host's.
  const std::vector<std::string>& errors() const { return errors_; }

  // Spelled tokens within a range, in order; preprocessor lines have none.
  std::vector<std::string_view> Tokens(const SourceRange& range) const;
  // "+=" of a binary, assignment or unary operator; empty for other nodes.
  std::string_view Operator(int node) const;

  // Digests in anchors are over spelled tokens, preprocessor lines left out, and a block `{...}` inside the node counts as `{}`,
  // so that a loop is still found after a change in its body. Who replaces a loop with its body therefore anchors the body too (a
  // block's own digest covers all of it). Parent is the nearest enclosing node that is no block.
  Anchor AnchorOf(int node) const;
  // The node that an anchor names, or nullopt if there is none or more than one: function, kind and tokens must be the same;
  // among equals the neighbourhood decides, then the ordinal, then the path.
  std::optional<int> Find(const Anchor& anchor) const;

 private:
  friend class SyntaxParser;
  void ComputeDigests();  // once text_ and nodes_ stand
  void ComputeUses();
  std::pair<std::size_t, std::size_t> TokenSpan(const SourceRange& range) const;
  std::vector<int> Equals(const std::string& function, const std::string& kind, const std::string& tokens) const;
  std::vector<int> PathOf(int node) const;
  std::string FunctionName(int node) const;
  const std::string& ParentDigest(int node) const;
  const std::string& SiblingDigest(int node, int step) const;

  std::string text_;
  std::vector<SyntaxNode> nodes_;
  std::vector<std::string> errors_;
  std::vector<SourceRange> tokens_;
  std::vector<std::string> digests_;    // of each node
  std::vector<std::vector<int>> uses_;  // of each node
};

// Parses CUDA sources with libclang 16, device side, sm_90. Keeps one translation unit with a precompiled preamble, so a source
// with the same includes as the one before costs a reparse (4 to 40 ms) and not a parse (600 ms). Not thread-safe; can crash on
// evolved text, so it lives in worker processes only.
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

}  // namespace evo
