#include "syntax/flattener.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "syntax/libclang.h"

namespace evo {
namespace {

// A bit of raw locations that is set within a macro expansion. libclang 16 has no function that tells this: its spelling location
// is that of the expansion, too.
constexpr unsigned kMacroLocation = 1u << 31;

std::string CopyText(CXString string) {
  const char* text = Clang().getCString(string);
  std::string copy = text ? text : "";
  Clang().disposeString(string);
  return copy;
}

bool IsDeclaration(CXCursorKind kind) { return Clang().isDeclaration(kind); }

bool IsReference(CXCursorKind kind) {
  return Clang().isReference(kind) || kind == CXCursor_DeclRefExpr || kind == CXCursor_MemberRefExpr;
}

bool IsFunction(CXCursorKind kind) {
  return kind == CXCursor_FunctionDecl || kind == CXCursor_FunctionTemplate || kind == CXCursor_CXXMethod ||
         kind == CXCursor_Constructor || kind == CXCursor_Destructor || kind == CXCursor_ConversionFunction;
}

struct CursorHash {
  std::size_t operator()(const CXCursor& cursor) const { return Clang().hashCursor(cursor); }
};
struct CursorEqual {
  bool operator()(const CXCursor& a, const CXCursor& b) const { return Clang().equalCursors(a, b) != 0; }
};

// Copies a translation unit into SyntaxNode values.
class Flattener {
 public:
  Flattener(CXTranslationUnit unit, const std::string& file, const std::string& text, std::uint32_t offset,
            std::vector<SyntaxNode>& nodes)
      : text_(text), tokens_(Tokenize(text)), offset_(offset), file_(Clang().getFile(unit, file.c_str())), nodes_(nodes) {
    const CXCursor root = Clang().getTranslationUnitCursor(unit);
    SyntaxNode& node = nodes_.emplace_back();
    node.kind = static_cast<int>(Clang().getCursorKind(root));
    node.kind_name = "TranslationUnit";
    node.range = {0, static_cast<std::uint32_t>(text.size())};
    stack_.push_back({0, -1});
    VisitChildren(root);
    for (const auto& [reference, declaration] : references_) nodes_[Index(reference)].refers_to = NodeOf(declaration);
    for (const auto& [call, declaration] : hidden_) {
      const int named = NodeOf(declaration);
      if (named >= 0) nodes_[Index(call)].hidden.push_back(named);
    }
  }

 private:
  struct Frame {
    int node = 0;
    int function = -1;
  };

  static std::size_t Index(int node) { return static_cast<std::size_t>(node); }

  // The node of a declaration; for an instantiation, the node of its template; -1 if it is declared in another file.
  int NodeOf(CXCursor declaration) const {
    auto found = declarations_.find(declaration);
    if (found == declarations_.end()) found = declarations_.find(Clang().getSpecializedCursorTemplate(declaration));
    return found == declarations_.end() ? -1 : found->second;
  }

  // Whether a cursor is an instantiation of a template. It is written nowhere, but has the template's location.
  bool IsInstantiation(CXCursor cursor, const SourceRange& range) const {
    if (!IsFunction(Clang().getCursorKind(cursor))) return false;
    const auto found = declarations_.find(Clang().getSpecializedCursorTemplate(cursor));
    return found != declarations_.end() && nodes_[Index(found->second)].range.Contains(range);
  }

  void VisitChildren(CXCursor cursor) {
    Clang().visitChildren(
        cursor,
        [](CXCursor child, CXCursor, CXClientData self) {
          static_cast<Flattener*>(self)->Visit(child);
          return CXChildVisit_Continue;
        },
        this);
  }

  void Visit(CXCursor cursor) {
    const CXCursorKind kind = Clang().getCursorKind(cursor);
    const CXSourceRange extent = Clang().getCursorExtent(cursor);
    const auto range = RangeOf(extent);
    if (!range) {
      // A node without a location, such as a generated call, may have children that are in the text.
      if (stack_.back().node != 0) VisitChildren(cursor);
      return;
    }
    if (IsInstantiation(cursor, *range)) return;
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
    // Several nodes may come from the same macro call: `LOOP {` has the parts of the loop at the call. One node stands for all.
    const bool macro = Clang().getRangeStart(extent).int_data & kMacroLocation;
    if (macro && !parent.children.empty() && nodes_[Index(parent.children.back())].range == *range) {
      Hide(cursor, parent.children.back());
      return;
    }
    Add(cursor, kind, *range, macro && IsMacroCall(*range));
  }

  // For clang, a pragma and its loop are one statement around the loop. Here, the pragma's line is a node before the loop.
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
    // A macro that expands to an element has none of the parts that elements have.
    node.kind_name = KindName(leaf && kind == CXCursor_ArraySubscriptExpr ? CXCursor_UnexposedExpr : kind);
    node.range = range;
    node.parent = frame.node;
    node.function = frame.function;
    const bool declaration = IsDeclaration(kind);
    if (declaration || IsReference(kind) || kind == CXCursor_CallExpr) node.name = CopyText(Clang().getCursorSpelling(cursor));
    if (declaration || Clang().isExpression(kind)) {
      node.type = CopyText(Clang().getTypeSpelling(Clang().getCanonicalType(Clang().getCursorType(cursor))));
    }
    if (declaration) declarations_.emplace(cursor, index);
    if (IsReference(kind)) references_.emplace_back(index, Clang().getCursorReferenced(cursor));
    if (leaf) {
      if (kind != CXCursor_DeclRefExpr) Hide(cursor, index);
      return;
    }
    const bool function = IsFunction(kind) && Clang().isCursorDefinition(cursor);
    stack_.push_back({index, function ? index : frame.function});
    VisitChildren(cursor);
    stack_.pop_back();
    for (const int child : nodes_[Index(index)].children) ExtendOverSemicolon(child);
  }

  // Calls for which `INFINITY` and `NAN` stand: constants.
  static bool IsConstantCall(std::string_view callee) {
    return callee.starts_with("__builtin_inf") || callee.starts_with("__builtin_huge_val") || callee.starts_with("__builtin_nan");
  }

  // Records what a macro call names and does, since its parts are no nodes.
  void Hide(CXCursor cursor, int call) {
    const CXCursorKind kind = Clang().getCursorKind(cursor);
    if (kind == CXCursor_CallExpr && IsConstantCall(CopyText(Clang().getCursorSpelling(cursor)))) return;
    if (kind == CXCursor_DeclRefExpr || kind == CXCursor_MemberRefExpr) {
      const CXCursor declaration = Clang().getCursorReferenced(cursor);
      hidden_.emplace_back(call, declaration);
      const CXType type = Clang().getCursorType(declaration);
      // A macro call that names anything but constants is no constant itself.
      if (!Clang().isConstQualifiedType(type) || Clang().isVolatileQualifiedType(type)) nodes_[Index(call)].opaque = true;
    }
    if (kind == CXCursor_CallExpr || Clang().isStatement(kind) || kind == CXCursor_LambdaExpr || IsDeclaration(kind)) {
      nodes_[Index(call)].opaque = true;
    }
    std::pair<Flattener*, int> place{this, call};
    Clang().visitChildren(
        cursor,
        [](CXCursor child, CXCursor, CXClientData data) {
          const auto& [self, at] = *static_cast<std::pair<Flattener*, int>*>(data);
          self->Hide(child, at);
          return CXChildVisit_Continue;
        },
        &place);
  }

  // Includes the `;` of an expression statement, which clang leaves out.
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

  // The range in the text, where a macro's expansion has the range of its call. nullopt if the range is empty or in another file.
  std::optional<SourceRange> RangeOf(CXSourceRange extent) const {
    const CXSourceLocation last = Clang().getRangeEnd(extent);
    CXFile begin_file = nullptr;
    CXFile end_file = nullptr;
    unsigned begin = 0;
    unsigned end = 0;
    Clang().getExpansionLocation(Clang().getRangeStart(extent), &begin_file, nullptr, nullptr, &begin);
    Clang().getExpansionLocation(last, &end_file, nullptr, nullptr, &end);
    if (!begin_file || !end_file || !Clang().File_isEqual(begin_file, file_) || !Clang().File_isEqual(end_file, file_))
      return std::nullopt;
    if (begin < offset_ || end < begin || end - offset_ > text_.size()) return std::nullopt;
    SourceRange range{begin - offset_, end - offset_};
    // clang gives the beginning of the call as the end of a macro argument.
    if (last.int_data & kMacroLocation) range.end = MacroCallEnd(range.end);
    if (range.end <= range.begin) return std::nullopt;
    return range;
  }

  // Whether a node is an implicit conversion, copy or cleanup: it has a single child with the same range.
  bool IsWrapper(CXCursor cursor, const SourceRange& range) const {
    struct Seen {
      const Flattener* self;
      const SourceRange* range;
      int children = 0;
      bool same = false;
    } seen{this, &range};
    Clang().visitChildren(
        cursor,
        [](CXCursor child, CXCursor, CXClientData data) {
          auto& s = *static_cast<Seen*>(data);
          ++s.children;
          const auto range_of_child = s.self->RangeOf(Clang().getCursorExtent(child));
          s.same = range_of_child && *range_of_child == *s.range;
          return CXChildVisit_Continue;
        },
        &seen);
    return seen.children == 1 && seen.same;
  }

  // The end of the `NAME` or `NAME(...)` that begins at an offset.
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

  // Whether a range is exactly one macro call.
  bool IsMacroCall(const SourceRange& range) const {
    const auto token = std::lower_bound(tokens_.begin(), tokens_.end(), range.begin,
                                        [](const SourceRange& t, std::uint32_t offset) { return t.begin < offset; });
    return token != tokens_.end() && (token->end == range.end || MacroCallEnd(range.begin) == range.end);
  }

  const std::string& KindName(CXCursorKind kind) {
    auto& name = kind_names_[kind];
    if (name.empty()) name = CopyText(Clang().getCursorKindSpelling(kind));
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
  std::vector<std::pair<int, CXCursor>> hidden_;  // macro calls and declarations that they name
};

}  // namespace

void Flatten(CXTranslationUnitImpl* unit, const std::string& file, const std::string& text, std::uint32_t offset,
             std::vector<SyntaxNode>& nodes) {
  Flattener(unit, file, text, offset, nodes);
}

std::vector<std::string> ErrorsOf(CXTranslationUnitImpl* unit, const std::string& file, unsigned lines_before) {
  std::vector<std::string> errors;
  for (unsigned i = 0; i < Clang().getNumDiagnostics(unit); ++i) {
    const CXDiagnostic diagnostic = Clang().getDiagnostic(unit, i);
    if (Clang().getDiagnosticSeverity(diagnostic) >= CXDiagnostic_Error) {
      CXFile place_file = nullptr;
      unsigned line = 0;
      unsigned column = 0;
      Clang().getExpansionLocation(Clang().getDiagnosticLocation(diagnostic), &place_file, &line, &column, nullptr);
      const std::string name = place_file ? CopyText(Clang().getFileName(place_file)) : "";
      const std::string place =
          name == file && line > lines_before ? fmt::format("{}", line - lines_before) : fmt::format("{}:{}", name, line);
      errors.push_back(fmt::format("{}:{}: {}", place, column, CopyText(Clang().getDiagnosticSpelling(diagnostic))));
    }
    Clang().disposeDiagnostic(diagnostic);
  }
  return errors;
}

}  // namespace evo
