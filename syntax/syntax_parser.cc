#include <clang-c/Index.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/error.h"
#include "syntax/preamble.h"
#include "syntax/syntax_tree.h"

namespace evo {
namespace {

// Its contents always come from memory, but without a file of that name libclang makes no precompiled preamble.
constexpr const char* kMainFile = "candidate.cu";
// Set in a raw location that stands in a macro expansion. libclang 16 has no call that says so: its spelling location is the
// expansion's, too.
constexpr unsigned kMacroLocation = 1u << 31;

std::string Take(CXString string) {
  const char* text = clang_getCString(string);
  std::string copy = text ? text : "";
  clang_disposeString(string);
  return copy;
}

bool IsDeclaration(CXCursorKind kind) { return clang_isDeclaration(kind); }

bool IsReference(CXCursorKind kind) {
  return clang_isReference(kind) || kind == CXCursor_DeclRefExpr || kind == CXCursor_MemberRefExpr;
}

bool IsFunction(CXCursorKind kind) {
  return kind == CXCursor_FunctionDecl || kind == CXCursor_FunctionTemplate || kind == CXCursor_CXXMethod ||
         kind == CXCursor_Constructor || kind == CXCursor_Destructor || kind == CXCursor_ConversionFunction;
}

struct CursorHash {
  std::size_t operator()(const CXCursor& cursor) const { return clang_hashCursor(cursor); }
};
struct CursorEqual {
  bool operator()(const CXCursor& a, const CXCursor& b) const { return clang_equalCursors(a, b) != 0; }
};

// Copies a translation unit into SyntaxNode values.
class Flattener {
 public:
  Flattener(CXTranslationUnit unit, const std::string& file, const std::string& text, std::uint32_t offset,
            std::vector<SyntaxNode>& nodes)
      : text_(text), tokens_(Tokenize(text)), offset_(offset), file_(clang_getFile(unit, file.c_str())), nodes_(nodes) {
    const CXCursor root = clang_getTranslationUnitCursor(unit);
    SyntaxNode& node = nodes_.emplace_back();
    node.kind = static_cast<int>(clang_getCursorKind(root));
    node.kind_name = "TranslationUnit";
    node.range = {0, static_cast<std::uint32_t>(text.size())};
    stack_.push_back({0, -1});
    VisitChildren(root);
    for (const auto& [reference, declaration] : references_) {
      if (const auto found = declarations_.find(declaration); found != declarations_.end()) {
        nodes_[Index(reference)].refers_to = found->second;
      }
    }
  }

 private:
  struct Frame {
    int node = 0;
    int function = -1;
  };

  static std::size_t Index(int node) { return static_cast<std::size_t>(node); }

  void VisitChildren(CXCursor cursor) {
    clang_visitChildren(
        cursor,
        [](CXCursor child, CXCursor, CXClientData self) {
          static_cast<Flattener*>(self)->Visit(child);
          return CXChildVisit_Continue;
        },
        this);
  }

  void Visit(CXCursor cursor) {
    const CXCursorKind kind = clang_getCursorKind(cursor);
    const CXSourceRange extent = clang_getCursorExtent(cursor);
    const auto range = RangeOf(extent);
    if (!range) {
      // A node without a place, such as a generated call, may have children that were written.
      if (stack_.back().node != 0) VisitChildren(cursor);
      return;
    }
    const SyntaxNode& parent = nodes_[Index(stack_.back().node)];
    if (kind == CXCursor_UnexposedStmt && text_[range->begin] == '#') {
      AddPragma(*range);
      VisitChildren(cursor);
      return;
    }
    if ((kind == CXCursor_UnexposedExpr || kind == CXCursor_CallExpr) && IsWrapper(cursor, *range)) {
      const std::size_t before = nodes_.size();
      VisitChildren(cursor);
      if (nodes_.size() > before) nodes_[before].converted = true;
      return;
    }
    // A second node for the same macro call says nothing new: `LOOP {` has the parts of the loop at the call.
    const bool macro = clang_getRangeStart(extent).int_data & kMacroLocation;
    if (macro && !parent.children.empty() && nodes_[Index(parent.children.back())].range == *range) return;
    Add(cursor, kind, *range, macro && IsMacroCall(*range));
  }

  // A loop with a pragma is a statement round the loop in clang's eyes; here the pragma's line is a node in front of the loop.
  void AddPragma(const SourceRange& statement) {
    const Frame frame = stack_.back();
    nodes_[Index(frame.node)].children.push_back(static_cast<int>(nodes_.size()));
    SyntaxNode& node = nodes_.emplace_back();
    node.kind = CXCursor_UnexposedAttr;
    node.kind_name = kPragmaKind;
    const std::size_t line_end = std::min(text_.find_first_of("\r\n", statement.begin), text_.size());
    node.range = {statement.begin, static_cast<std::uint32_t>(line_end)};
    node.parent = frame.node;
    node.function = frame.function;
  }

  void Add(CXCursor cursor, CXCursorKind kind, const SourceRange& range, bool leaf) {
    const Frame frame = stack_.back();
    const int index = static_cast<int>(nodes_.size());
    SyntaxNode& node = nodes_.emplace_back();
    nodes_[Index(frame.node)].children.push_back(index);
    node.kind = static_cast<int>(kind);
    node.kind_name = KindName(kind);
    node.range = range;
    node.parent = frame.node;
    node.function = frame.function;
    const bool declaration = IsDeclaration(kind);
    if (declaration || IsReference(kind) || kind == CXCursor_CallExpr) node.name = Take(clang_getCursorSpelling(cursor));
    if (declaration || clang_isExpression(kind)) {
      node.type = Take(clang_getTypeSpelling(clang_getCanonicalType(clang_getCursorType(cursor))));
    }
    if (declaration) declarations_.emplace(cursor, index);
    if (IsReference(kind)) references_.emplace_back(index, clang_getCursorReferenced(cursor));
    if (leaf) return;
    const bool function = IsFunction(kind) && clang_isCursorDefinition(cursor);
    stack_.push_back({index, function ? index : frame.function});
    VisitChildren(cursor);
    stack_.pop_back();
    for (const int child : nodes_[Index(index)].children) ExtendOverSemicolon(child);
  }

  // Expression statements end before their `;` in clang's eyes.
  void ExtendOverSemicolon(int index) {
    SyntaxNode& node = nodes_[Index(index)];
    if (node.parent < 0) return;
    const SyntaxNode& parent = nodes_[Index(node.parent)];
    const std::string& kind = parent.kind_name;
    const bool body = kind == "ForStmt"
                          ? !parent.children.empty() && parent.children.back() == index
                          : kind == "CompoundStmt" || kind == "IfStmt" || kind == "WhileStmt" || kind == "DoStmt" ||
                                kind == "CaseStmt" || kind == "DefaultStmt" || kind == "LabelStmt" || kind == "CXXForRangeStmt";
    if (!body) return;
    const auto next = std::lower_bound(tokens_.begin(), tokens_.end(), node.range.end,
                                       [](const SourceRange& token, std::uint32_t offset) { return token.begin < offset; });
    if (next != tokens_.end() && next->size() == 1 && text_[next->begin] == ';') node.range.end = next->end;
  }

  // In the text, by where macros are called; nullopt if it is elsewhere or empty.
  std::optional<SourceRange> RangeOf(CXSourceRange extent) const {
    const CXSourceLocation last = clang_getRangeEnd(extent);
    CXFile begin_file = nullptr;
    CXFile end_file = nullptr;
    unsigned begin = 0;
    unsigned end = 0;
    clang_getExpansionLocation(clang_getRangeStart(extent), &begin_file, nullptr, nullptr, &begin);
    clang_getExpansionLocation(last, &end_file, nullptr, nullptr, &end);
    if (!begin_file || !end_file || !clang_File_isEqual(begin_file, file_) || !clang_File_isEqual(end_file, file_))
      return std::nullopt;
    if (begin < offset_ || end < begin || end - offset_ > text_.size()) return std::nullopt;
    SourceRange range{begin - offset_, end - offset_};
    // The end of an argument of a macro is given as the beginning of the call.
    if (last.int_data & kMacroLocation) range.end = MacroCallEnd(range.end);
    if (range.end <= range.begin) return std::nullopt;
    return range;
  }

  // An implicit conversion, copy or cleanup: one child in the same place.
  bool IsWrapper(CXCursor cursor, const SourceRange& range) const {
    struct Seen {
      const Flattener* self;
      const SourceRange* range;
      int children = 0;
      bool same = false;
    } seen{this, &range};
    clang_visitChildren(
        cursor,
        [](CXCursor child, CXCursor, CXClientData data) {
          auto& s = *static_cast<Seen*>(data);
          ++s.children;
          const auto range_of_child = s.self->RangeOf(clang_getCursorExtent(child));
          s.same = range_of_child && *range_of_child == *s.range;
          return CXChildVisit_Continue;
        },
        &seen);
    return seen.children == 1 && seen.same;
  }

  // End of the `NAME` or `NAME(...)` that begins there.
  std::uint32_t MacroCallEnd(std::uint32_t begin) const {
    auto token = std::lower_bound(tokens_.begin(), tokens_.end(), begin,
                                  [](const SourceRange& t, std::uint32_t offset) { return t.begin < offset; });
    if (token == tokens_.end()) return begin;
    const std::uint32_t name_end = token->end;
    int depth = 0;
    for (++token; token != tokens_.end(); ++token) {
      const char c = text_[token->begin];
      if (token->size() == 1) depth += (c == '(') - (c == ')');
      if (depth == 0) return c == ')' ? token->end : name_end;
    }
    return name_end;
  }

  // A macro call and nothing else.
  bool IsMacroCall(const SourceRange& range) const {
    const auto token = std::lower_bound(tokens_.begin(), tokens_.end(), range.begin,
                                        [](const SourceRange& t, std::uint32_t offset) { return t.begin < offset; });
    return token != tokens_.end() && (token->end == range.end || MacroCallEnd(range.begin) == range.end);
  }

  const std::string& KindName(CXCursorKind kind) {
    auto& name = kind_names_[kind];
    if (name.empty()) name = Take(clang_getCursorKindSpelling(kind));
    return name;
  }

  const std::string& text_;
  std::vector<SourceRange> tokens_;
  std::uint32_t offset_;
  CXFile file_;
  std::vector<SyntaxNode>& nodes_;
  std::vector<Frame> stack_;
  std::map<CXCursorKind, std::string> kind_names_;
  std::unordered_map<CXCursor, int, CursorHash, CursorEqual> declarations_;
  std::vector<std::pair<int, CXCursor>> references_;
};

std::vector<std::string> Errors(CXTranslationUnit unit, const std::string& main_file, unsigned lines_before) {
  std::vector<std::string> errors;
  for (unsigned i = 0; i < clang_getNumDiagnostics(unit); ++i) {
    const CXDiagnostic diagnostic = clang_getDiagnostic(unit, i);
    if (clang_getDiagnosticSeverity(diagnostic) >= CXDiagnostic_Error) {
      CXFile file = nullptr;
      unsigned line = 0;
      unsigned column = 0;
      clang_getExpansionLocation(clang_getDiagnosticLocation(diagnostic), &file, &line, &column, nullptr);
      const std::string name = file ? Take(clang_getFileName(file)) : "";
      const std::string place =
          name == main_file && line > lines_before ? fmt::format("{}", line - lines_before) : fmt::format("{}:{}", name, line);
      errors.push_back(fmt::format("{}:{}: {}", place, column, Take(clang_getDiagnosticSpelling(diagnostic))));
    }
    clang_disposeDiagnostic(diagnostic);
  }
  return errors;
}

}  // namespace

struct SyntaxParser::State {
  SyntaxPaths paths;
  std::string file;  // path of kMainFile
  CXIndex index = nullptr;
  CXTranslationUnit unit = nullptr;

  void Dispose() {
    if (unit) clang_disposeTranslationUnit(unit);
    unit = nullptr;
  }

  std::vector<std::string> Arguments() const {
    return {"-x",
            "cuda",
            "-std=c++17",
            "--cuda-device-only",
            "--cuda-gpu-arch=sm_90",
            "--cuda-path=" + paths.cuda_root.string(),
            "-nocudalib",
            "-D__CUDA_ARCH_FEAT_SM90_ALL",
            "-Wno-unknown-cuda-version",
            "-resource-dir",
            paths.clang_resources.string(),
            "-I" + paths.headers.string(),
            "-I" + (paths.cuda_root / "include").string(),
            "-I" + (paths.cuda_root / "include" / "cccl").string()};
  }

  // Whether libclang could make a unit of it.
  bool Load(CXUnsavedFile& contents) {
    if (unit && clang_reparseTranslationUnit(unit, 1, &contents, clang_defaultReparseOptions(unit)) == 0) return true;
    Dispose();
    const std::vector<std::string> arguments = Arguments();
    std::vector<const char*> pointers;
    for (const std::string& argument : arguments) pointers.push_back(argument.c_str());
    constexpr unsigned kOptions =
        CXTranslationUnit_PrecompiledPreamble | CXTranslationUnit_CreatePreambleOnFirstParse | CXTranslationUnit_KeepGoing;
    return clang_parseTranslationUnit2(index, file.c_str(), pointers.data(), static_cast<int>(pointers.size()), &contents, 1,
                                       kOptions, &unit) == CXError_Success;
  }
};

SyntaxParser::SyntaxParser(SyntaxPaths paths) : state_(std::make_unique<State>()) {
  for (const auto& file :
       {paths.cuda_root / "include" / "cuda_runtime.h", paths.clang_resources / "include" / "cuda_wrappers" / "new",
        paths.headers / "texture_fetch_functions.h", paths.headers / kMainFile}) {
    if (!std::filesystem::exists(file)) {
      throw Error(fmt::format("{}: not found; the syntax parser needs the CUDA toolkit's headers and evo's share/ folder",
                              file.string()));
    }
  }
  state_->file = (paths.headers / kMainFile).string();
  state_->paths = std::move(paths);
  // Declarations that come out of the precompiled preamble are not visited: they are thousands, and none is ours.
  state_->index = clang_createIndex(/*excludeDeclarationsFromPCH=*/1, /*displayDiagnostics=*/0);
  if (!state_->index) throw Error("libclang: no index could be made; is it libclang 16?");
}

SyntaxParser::~SyntaxParser() {
  state_->Dispose();
  clang_disposeIndex(state_->index);
}

SyntaxTree SyntaxParser::Parse(const std::string& text) {
  const std::string preamble = PreambleOf(text);
  const std::string contents = preamble + text;
  CXUnsavedFile file{state_->file.c_str(), contents.data(), contents.size()};
  SyntaxTree tree;
  tree.text_ = text;
  if (!state_->Load(file)) {
    state_->Dispose();
    tree.nodes_.push_back({.kind = CXCursor_TranslationUnit, .kind_name = "TranslationUnit"});
    tree.errors_.push_back("1:1: libclang could not parse the source at all");
  } else {
    const auto lines = static_cast<unsigned>(std::count(preamble.begin(), preamble.end(), '\n'));
    tree.errors_ = Errors(state_->unit, state_->file, lines);
    Flattener(state_->unit, state_->file, tree.text_, static_cast<std::uint32_t>(preamble.size()), tree.nodes_);
  }
  tree.ComputeDigests();
  return tree;
}

}  // namespace evo
