#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/genome.h"
#include "syntax/token.h"

namespace evo {

// Where the parser finds the headers that sources include.
struct SyntaxPaths {
  std::filesystem::path cuda_root;        // the toolkit
  std::filesystem::path clang_resources;  // the resource directory of clang 16
  std::filesystem::path headers;          // ShareDirectory()/"syntax": stand-ins for headers that CUDA 13 dropped
  std::filesystem::path cache = {};       // where headers are kept precompiled; empty: nowhere
};

inline constexpr const char* kPragmaKind = "Pragma";

// One node of a tree. Indices refer to SyntaxTree::nodes(). The root is node 0, and the descendants of a node follow it without a
// gap. Ranges are in the spelled text; the range of a statement includes its `;`. The tree contains only nodes of the main file.
// A macro call is one node without children, of the kind that it expands to, except that one that expands to an element is an
// UnexposedExpr, since elements have parts. Implicit conversions are no nodes; the converted node is marked `converted`.
struct SyntaxNode {
  int kind = 0;           // CXCursorKind
  std::string kind_name;  // "ForStmt"
  std::string name;       // of the declaration, or of the declaration referred to; else empty
  std::string type;       // canonical spelling of an expression's or a declaration's type; else empty
  SourceRange range;
  int parent = -1;
  std::vector<int> children;
  int function = -1;   // node of the enclosing function definition
  int refers_to = -1;  // node of the declaration that a name refers to, if it is in this file
  // For a macro call, whose parts are no nodes: the declarations of this file that it names, and whether it may do more than
  // stand for a constant. Code that analyses reads, writes or calls must consider both.
  std::vector<int> hidden;
  bool opaque = false;
  bool converted = false;  // implicitly converted; for an lvalue of scalar type, this means that it is read
};

// The syntax tree of one CUDA source, copied into values. It holds no libclang memory.
class SyntaxTree {
 public:
  const std::string& text() const { return text_; }
  const std::vector<SyntaxNode>& nodes() const { return nodes_; }
  const SyntaxNode& node(int index) const { return nodes_[static_cast<std::size_t>(index)]; }
  // One past the last descendant of a node.
  int EndOf(int node) const;
  // The nodes that name a declaration, in source order: DeclRefExprs, and macro calls that hide the name.
  const std::vector<int>& UsesOf(int declaration) const { return uses_[static_cast<std::size_t>(declaration)]; }
  std::string_view Text(int node) const { return Text(nodes_[static_cast<std::size_t>(node)].range); }
  std::string_view Text(const SourceRange& range) const { return std::string_view(text_).substr(range.begin, range.size()); }
  // Error diagnostics as "line:column: message"; empty if the source parsed without errors. Device code that calls host code is
  // not reported.
  const std::vector<std::string>& errors() const { return errors_; }

  // The tree of the same source with macro calls and templates written out (plain_text.h), and its plain() that of the same with
  // calls of its functions and groups of threads written out (inlining.h and others). Each has the same
  // functions and other declarations of the file, one for one; after a template that is used with several lists of arguments come
  // functions whose names the source does not have. Null if that is the same text or does not parse, or if the parser is gone.
  // Parses at the first call, as its parser does.
  const SyntaxTree* plain() const;
  // The tree of another text; null if it has more errors, or if the parser is gone.
  std::shared_ptr<const SyntaxTree> Reparsed(const std::string& text) const;

  // What is worked out of the tree once, by this key, and gone with it. A key always has values of the same type.
  template <typename Value, typename Make>
  const Value& Kept(const std::string& key, Make make) const {
    std::shared_ptr<const void>& kept = kept_[key];
    if (!kept) kept = std::make_shared<const Value>(make());
    return *static_cast<const Value*>(kept.get());
  }

  // The spelled tokens within a range, in order. Preprocessor lines have none.
  std::vector<std::string_view> Tokens(const SourceRange& range) const;
  // The spelling of a binary, assignment or unary operator, such as "+="; empty for other nodes.
  std::string_view Operator(int node) const;

  // Digests in anchors are over spelled tokens without preprocessor lines. A block `{...}` inside the node counts as `{}`, so
  // that a loop is still found after a change in its body. An edit that replaces a loop including its body must therefore anchor
  // the body, too; the digest of a block covers all of it. An anchor's parent is the nearest enclosing node that is no block.
  Anchor AnchorOf(int node) const;
  // The node that an anchor identifies; nullopt if there is none or more than one. Function, kind and tokens must be equal. Among
  // several such nodes the parent and the neighbours decide, then the ordinal, then the path.
  std::optional<int> Find(const Anchor& anchor) const;

 private:
  friend class SyntaxParser;
  void ComputeDigests();  // once text_ and nodes_ are complete
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
  bool written_out_ = false;            // whether nothing is left to do for PlainText
  mutable std::function<std::shared_ptr<const SyntaxTree>(const SyntaxTree&)> find_plain_;  // empty once it was called
  mutable std::shared_ptr<const SyntaxTree> plain_;
  mutable std::map<std::string, std::shared_ptr<const void>> kept_;
  std::function<std::shared_ptr<const SyntaxTree>(const std::string&)> parse_;
};

// Opens libclang, as the first parser would: for a process that is confined before it parses. Throws Error if that fails.
void LoadParserLibrary();

// Parses CUDA sources with libclang 16: the device side, for sm_90. Keeps one translation unit with a precompiled preamble, so
// that a source with the same includes as the previous one costs a reparse (4 to 40 ms) instead of a parse (600 ms, or 20 to 30
// ms where the cache has its headers). Not thread-safe. It may crash on evolved text, so it belongs in worker processes only.
class SyntaxParser {
 public:
  explicit SyntaxParser(SyntaxPaths paths);
  ~SyntaxParser();
  SyntaxParser(const SyntaxParser&) = delete;
  SyntaxParser& operator=(const SyntaxParser&) = delete;

  // Throws Error if libclang cannot work at all, for example without headers. Errors of the source are in the tree.
  SyntaxTree Parse(const std::string& text);

 private:
  struct State;
  std::shared_ptr<State> state_;  // trees know it as long as there is a parser
};

}  // namespace evo
