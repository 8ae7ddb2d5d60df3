#include <clang-c/Index.h>
#include <fmt/format.h>

#include <cctype>
#include <cstdlib>
#include <fstream>
#include <unordered_map>

#include "core/error.h"
#include "syntax/syntax_tree.h"

namespace evo {
namespace {

// libclang reuses its precompiled preamble only for a file that exists (measured: a reparse of 60 ms against 600), so there is an empty one.
constexpr const char* kFileName = "candidate.cu";

std::string Take(CXString string) {
  const char* text = clang_getCString(string);
  std::string copy = text == nullptr ? "" : text;
  clang_disposeString(string);
  return copy;
}

struct CursorHash {
  std::size_t operator()(const CXCursor& cursor) const { return clang_hashCursor(cursor); }
};
struct CursorEqual {
  bool operator()(const CXCursor& a, const CXCursor& b) const { return clang_equalCursors(a, b) != 0; }
};

// libclang's precompiled preamble is every leading preprocessor line, so parameters would be part of it and each of their values would cost
// a whole parse. An empty declaration in the place of the renderer's `#pragma nv_hdrstop`, of the same length, ends it after the includes.
std::string WithPreambleEnd(std::string text) {
  constexpr std::string_view kStop = "#pragma nv_hdrstop";
  if (const std::size_t at = text.find(kStop); at != std::string::npos) text.replace(at, kStop.size(), ";" + std::string(kStop.size() - 1, ' '));
  return text;
}

bool IsFunction(CXCursorKind kind) { return kind == CXCursor_FunctionDecl || kind == CXCursor_FunctionTemplate || kind == CXCursor_CXXMethod; }

}  // namespace

// Flattens libclang's tree into values.
class TreeBuilder {
 public:
  TreeBuilder(CXTranslationUnit unit, const std::string& file, SyntaxTree& tree) : file_(clang_getFile(unit, file.c_str())), tree_(tree) {
    SyntaxNode root;
    root.kind_name = "TranslationUnit";
    root.range = {0, static_cast<std::uint32_t>(tree.text_.size())};
    tree_.nodes_.push_back(root);
    Children(clang_getTranslationUnitCursor(unit), 0, -1);
    for (const auto& [node, referenced] : references_) {
      const auto found = known_.find(referenced);
      if (found != known_.end()) tree_.nodes_[static_cast<std::size_t>(node)].refers_to = found->second;
    }
  }

 private:
  struct Frame {
    TreeBuilder* builder;
    int parent;
    int function;
  };

  void Children(CXCursor cursor, int parent, int function) {
    Frame frame{this, parent, function};
    clang_visitChildren(
        cursor,
        [](CXCursor child, CXCursor, CXClientData data) {
          const auto* f = static_cast<Frame*>(data);
          f->builder->Visit(child, f->parent, f->function);
          return CXChildVisit_Continue;
        },
        &frame);
  }

  // Offset in the main file of where a location is spelled or expanded; nullopt elsewhere.
  std::optional<std::uint32_t> Offset(CXSourceLocation location) const {
    CXFile file = nullptr;
    unsigned offset = 0;
    clang_getExpansionLocation(location, &file, nullptr, nullptr, &offset);
    if (file == nullptr || !clang_File_isEqual(file, file_)) return std::nullopt;
    return offset;
  }

  void Visit(CXCursor cursor, int parent, int function) {
    const CXSourceRange extent = clang_getCursorExtent(cursor);
    const auto begin = Offset(clang_getRangeStart(extent));
    const auto end = Offset(clang_getRangeEnd(extent));
    if (!begin || !end || *end < *begin || *end > tree_.text_.size()) return;
    SyntaxNode node;
    const CXCursorKind kind = clang_getCursorKind(cursor);
    node.range = {*begin, *end};
    if (node.range.size() == 0) return;  // an attribute, or a macro's argument inside its body
    // Everything inside a macro's body has the range of the call, and only the outermost such node is one. Conversions, and names under
    // them, honestly spell the same as their parent.
    const SyntaxNode& above = tree_.nodes_[static_cast<std::size_t>(parent)];
    const bool wrapped = above.kind == CXCursor_UnexposedExpr || kind == CXCursor_UnexposedExpr || kind == CXCursor_DeclRefExpr;
    if (parent != 0 && above.range == node.range && !wrapped) return;
    node.kind = kind;
    node.kind_name = Take(clang_getCursorKindSpelling(kind));
    node.name = Take(clang_getCursorSpelling(cursor));
    node.type = Take(clang_getTypeSpelling(clang_getCanonicalType(clang_getCursorType(cursor))));
    node.is_expression = clang_isExpression(kind) != 0;
    node.parent = parent;
    node.function = function;
    if (kind == CXCursor_ForStmt || kind == CXCursor_WhileStmt || kind == CXCursor_DoStmt) AddPragma(node.range.begin, parent, function);
    const int index = static_cast<int>(tree_.nodes_.size());
    MarkStatement(node, parent, kind);
    tree_.nodes_.push_back(std::move(node));
    tree_.nodes_[static_cast<std::size_t>(parent)].children.push_back(index);
    known_.emplace(cursor, index);
    const CXCursor referenced = clang_getCursorReferenced(cursor);
    if (!clang_Cursor_isNull(referenced) && !clang_equalCursors(referenced, cursor)) references_.emplace_back(index, referenced);
    const bool opens_function = IsFunction(kind) && clang_isCursorDefinition(cursor);
    if (opens_function) AddDeclarator(index);
    Children(cursor, index, opens_function ? index : function);
  }

  void AddTextNode(int kind, const char* kind_name, SourceRange range, int parent, int function) {
    SyntaxNode node;
    node.kind = kind;
    node.kind_name = kind_name;
    node.range = range;
    node.parent = parent;
    node.function = function;
    tree_.nodes_[static_cast<std::size_t>(parent)].children.push_back(static_cast<int>(tree_.nodes_.size()));
    tree_.nodes_.push_back(std::move(node));
  }

  // The pragma on the line above a loop that starts its own line.
  void AddPragma(std::uint32_t loop, int parent, int function) {
    const std::string& text = tree_.text_;
    std::size_t line = loop;
    while (line > 0 && (text[line - 1] == ' ' || text[line - 1] == '\t')) --line;
    if (line == 0 || text[line - 1] != '\n') return;
    const std::size_t end = line - 1;
    const std::size_t before = end == 0 ? std::string::npos : text.rfind('\n', end - 1);
    const std::size_t begin = text.find_first_not_of(" \t", before == std::string::npos ? 0 : before + 1);
    if (begin >= end || text.compare(begin, 7, "#pragma") != 0) return;
    AddTextNode(kPragmaNode, "Pragma", {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)}, parent, function);
  }

  // The function's name, and the launch bounds in front of it.
  void AddDeclarator(int function) {
    const SourceRange range = tree_.node(function).range;
    const std::string& text = tree_.text_;
    const std::string name = tree_.node(function).name.substr(0, tree_.node(function).name.find('('));
    tree_.nodes_[static_cast<std::size_t>(function)].name = name;   // a template's spelling carries its parameter types
    std::size_t at = text.find(name, range.begin);
    const auto word = [&](std::size_t i) { return i < text.size() && (std::isalnum(static_cast<unsigned char>(text[i])) || text[i] == '_'); };
    while (at < range.end && (word(at + name.size()) || (at > 0 && word(at - 1)))) at = text.find(name, at + 1);
    if (at >= range.end) return;
    constexpr std::string_view kBounds = "__launch_bounds__";
    const std::size_t bounds = text.find(kBounds, range.begin);
    if (bounds < at) {
      std::size_t end = text.find('(', bounds);
      for (int depth = 0; end < range.end; ++end) {
        if (text[end] == '(') ++depth;
        if (text[end] == ')' && --depth == 0) break;
      }
      AddTextNode(kLaunchBoundsNode, "LaunchBounds", {static_cast<std::uint32_t>(bounds), static_cast<std::uint32_t>(end + 1)}, function, function);
      if (end > at) at = text.find(name, end);
    }
    AddTextNode(kFunctionNameNode, "FunctionName", {static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(at + name.size())}, function, function);
  }

  // A statement's range reaches over its semicolon, which libclang leaves out of most.
  void MarkStatement(SyntaxNode& node, int parent, CXCursorKind kind) const {
    const bool in_block = tree_.nodes_[static_cast<std::size_t>(parent)].kind == CXCursor_CompoundStmt;
    node.is_statement = clang_isStatement(kind) != 0 || (in_block && node.is_expression);
    if (!node.is_statement || kind == CXCursor_CompoundStmt) return;
    std::uint32_t at = node.range.end;
    const std::string& text = tree_.text_;
    if (at > 0 && (text[at - 1] == ';' || text[at - 1] == '}')) return;
    while (at < text.size() && std::isspace(static_cast<unsigned char>(text[at]))) ++at;
    if (at < text.size() && text[at] == ';') node.range.end = at + 1;
  }

  CXFile file_;
  SyntaxTree& tree_;
  std::unordered_map<CXCursor, int, CursorHash, CursorEqual> known_;
  std::vector<std::pair<int, CXCursor>> references_;
};

struct SyntaxParser::State {
  SyntaxPaths paths;
  CXIndex index = clang_createIndex(0, 0);
  CXTranslationUnit unit = nullptr;
  std::filesystem::path folder;
  std::string file;

  State() {
    std::string pattern = (std::filesystem::temp_directory_path() / "evo-syntax-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw Error(fmt::format("{}: a folder for the parser cannot be made; is the disk full?", pattern));
    folder = pattern;
    file = (folder / kFileName).string();
    std::ofstream touch(file);
  }
  ~State() {
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
    if (unit != nullptr) clang_disposeTranslationUnit(unit);
    clang_disposeIndex(index);
  }

  std::vector<std::string> Arguments() const {
    const std::string root = paths.cuda_root.string();
    // sm_90a is not known to clang 16; the macro turns on what depends on it.
    return {"-x", "cuda", "--cuda-device-only", "--cuda-gpu-arch=sm_90", "-D__CUDA_ARCH_FEAT_SM90_ALL", "--cuda-path=" + root, "-nocudalib",
            "-Wno-unknown-cuda-version", "-Wno-unknown-pragmas", "-w", "-std=c++17", "-resource-dir", paths.clang_resources.string(),
            "-I" + paths.headers.string(), "-I" + root + "/include", "-I" + root + "/include/cccl"};
  }
};

SyntaxParser::SyntaxParser(SyntaxPaths paths) : state_(std::make_unique<State>()) { state_->paths = std::move(paths); }
SyntaxParser::~SyntaxParser() = default;

SyntaxTree SyntaxParser::Parse(const std::string& text) {
  SyntaxTree tree;
  tree.text_ = text;
  const std::string parsed = WithPreambleEnd(text);
  CXUnsavedFile file{state_->file.c_str(), parsed.data(), parsed.size()};
  if (state_->unit != nullptr && clang_reparseTranslationUnit(state_->unit, 1, &file, clang_defaultReparseOptions(state_->unit)) != 0) {
    clang_disposeTranslationUnit(state_->unit);  // of no use after a failed reparse
    state_->unit = nullptr;
  }
  if (state_->unit == nullptr) {
    const std::vector<std::string> arguments = state_->Arguments();
    std::vector<const char*> pointers;
    for (const std::string& argument : arguments) pointers.push_back(argument.c_str());
    const unsigned options = CXTranslationUnit_PrecompiledPreamble | CXTranslationUnit_CreatePreambleOnFirstParse | CXTranslationUnit_KeepGoing;
    const CXErrorCode code = clang_parseTranslationUnit2(state_->index, state_->file.c_str(), pointers.data(), static_cast<int>(pointers.size()), &file, 1,
                                                         options, &state_->unit);
    if (code != CXError_Success) throw Error(fmt::format("libclang cannot parse CUDA with the toolkit in {}: error {}", state_->paths.cuda_root.string(), static_cast<int>(code)));
  }
  for (unsigned i = 0; i < clang_getNumDiagnostics(state_->unit); ++i) {
    CXDiagnostic diagnostic = clang_getDiagnostic(state_->unit, i);
    if (clang_getDiagnosticSeverity(diagnostic) >= CXDiagnostic_Error) {
      tree.errors_.push_back(Take(clang_formatDiagnostic(diagnostic, CXDiagnostic_DisplaySourceLocation | CXDiagnostic_DisplayColumn)));
    }
    clang_disposeDiagnostic(diagnostic);
  }
  TreeBuilder(state_->unit, state_->file, tree);
  return tree;
}

}  // namespace evo
