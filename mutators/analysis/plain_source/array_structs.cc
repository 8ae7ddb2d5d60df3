#include "mutators/analysis/plain_source/array_structs.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "mutators/analysis/source/shared_array.h"
#include "mutators/analysis/source/source_query.h"

namespace evo {
namespace {

constexpr long long kMostPacked = 32;

struct ArrayStruct {
  std::string name, element;
  int field = -1;
  long long count = 0;
};

// The type without const, its struct's keyword and references.
std::string BareType(std::string type) {
  for (bool more = true; more;) {
    more = false;
    for (const std::string_view word : {"const ", "struct ", "volatile "}) {
      if (!type.starts_with(word)) continue;
      type.erase(0, word.size());
      more = true;
    }
  }
  while (type.ends_with('&') || type.ends_with(' ')) type.pop_back();
  return type;
}

std::vector<ArrayStruct> ArrayStructsIn(const SyntaxTree& tree) {
  std::vector<ArrayStruct> found;
  for (const int declared : tree.node(0).children) {
    const SyntaxNode& node = tree.node(declared);
    if (node.kind_name != "StructDecl" || node.name.empty()) continue;
    std::vector<int> members;
    for (const int child : node.children) {
      if (!tree.node(child).kind_name.starts_with("attribute") && !tree.node(child).type.empty()) members.push_back(child);
    }
    if (members.size() != 1 || tree.node(members.front()).kind_name != "FieldDecl") continue;
    const SyntaxNode& field = tree.node(members.front());
    const auto extents = ExtentsOf(field.type);
    if (extents.size() != 1 || extents.front() < 1 || extents.front() > kMostPacked) continue;
    // As it is spelled: an alias of another file is shorter than what it stands for.
    const std::string_view text = tree.Text(members.front());
    std::string element(text.substr(0, text.find(field.name)));
    element.erase(element.find_last_not_of(' ') + 1);
    if (element.empty() || element.find_first_of("*<>()") != std::string::npos) continue;
    found.push_back({node.name, element, members.front(), extents.front()});
  }
  return found;
}

// Writes functions with one struct less. Throws nothing: what is not understood makes it fail.
class ArrayStructWriter {
 public:
  ArrayStructWriter(const SyntaxTree& tree, ArrayStruct packed) : tree_(tree), packed_(std::move(packed)) {}

  std::optional<std::string> Text() {
    std::string text;
    std::uint32_t at = 0;
    for (const int function : Functions(tree_)) {
      const SyntaxNode& node = tree_.node(function);
      if (node.parent != 0 || node.range.begin < at) continue;
      text += tree_.Text({at, node.range.begin});
      text += Written(function);
      at = node.range.end;
    }
    text += tree_.Text({at, static_cast<std::uint32_t>(tree_.text().size())});
    return understood_ && changed_ ? std::optional(text) : std::nullopt;
  }

 private:
  std::string Fail() {
    understood_ = false;
    return "";
  }
  bool IsStruct(int node) const { return BareType(tree_.node(node).type) == packed_.name; }
  bool IsPointer(const std::string& type) const {
    const std::string bare = BareType(type);
    return bare.starts_with(packed_.name + " *") && std::count(bare.begin(), bare.end(), '*') == 1;
  }
  bool IsArray(const std::string& type) const { return BareType(type).starts_with(packed_.name + "["); }

  // A node's text, with that of its parts written anew.
  std::string WithParts(int node) {
    const SourceRange& range = tree_.node(node).range;
    std::string text;
    std::uint32_t at = range.begin;
    for (const int child : tree_.node(node).children) {
      const SourceRange& part = tree_.node(child).range;
      if (part.begin < at || part.end > range.end || part.size() == 0) continue;
      text += tree_.Text({at, part.begin});
      text += Written(child);
      at = part.end;
    }
    return text + std::string(tree_.Text({at, range.end}));
  }

  std::string Written(int node) {
    const SyntaxNode& one = tree_.node(node);
    const std::string& kind = one.kind_name;
    if (kind == "DeclStmt") return Declared(node);
    if (kind == "TypeRef" && IsStruct(node)) {
      const std::string& around = tree_.node(one.parent).type;
      if (!IsPointer(around)) return Fail();
      changed_ = true;
      return packed_.element;
    }
    if (kind == "ParmDecl" && IsStruct(node)) return Fail();
    if (kind == "ArraySubscriptExpr") {
      const int array = Inner(one.children.front());
      if (tree_.node(array).kind_name == "MemberRefExpr" && tree_.node(array).refers_to == packed_.field)
        return ElementOf(Inner(tree_.node(array).children.empty() ? -1 : tree_.node(array).children.front()),
                         Written(one.children.back()));
    }
    if (kind == "MemberRefExpr" && one.refers_to == packed_.field) return Fail();
    const bool assigns = kind == "BinaryOperator" && tree_.Operator(node) == "=";
    if ((assigns || one.name == "operator=") && IsStruct(node)) {
      const std::string& parent = tree_.node(one.parent).kind_name;
      if (parent != "CompoundStmt" && parent != "ForStmt" && parent != "IfStmt") return Fail();
      return Copied(ElementOf(Inner(one.children.front()), "part_"), ElementOf(Inner(one.children.back()), "part_"));
    }
    if (IsPointer(one.type) && (kind == "BinaryOperator" || kind == "CompoundAssignOperator" || kind == "UnaryOperator"))
      return Moved(node);
    // A distance in structs.
    const bool subtracts = kind == "BinaryOperator" && tree_.Operator(node) == "-" && one.children.size() == 2;
    if (subtracts && IsPointer(tree_.node(one.children[0]).type) && IsPointer(tree_.node(one.children[1]).type)) return Fail();
    if (IsStruct(node) && kind != "TypeRef" && kind != "UnexposedExpr" && kind != "ParenExpr") return Fail();
    return one.children.empty() ? std::string(tree_.Text(node)) : WithParts(node);
  }

  // Of a pointer that is moved by so many structs.
  std::string Moved(int node) {
    const auto& sides = tree_.node(node).children;
    const std::string_view spelled = tree_.Operator(node);
    if (spelled == "=" && sides.size() == 2) return WithParts(node);
    if (sides.size() != 2 || (spelled != "+" && spelled != "-" && spelled != "+=" && spelled != "-=")) return Fail();
    const bool first = IsPointer(tree_.node(sides[0]).type);
    const std::string pointer = Written(sides[first ? 0 : 1]), by = Written(sides[first ? 1 : 0]);
    return fmt::format("{} {} ({}) * {}", pointer, spelled, by, packed_.count);
  }

  // Without parentheses and conversions of the struct itself.
  int Inner(int node) const {
    while (node >= 0) {
      const SyntaxNode& one = tree_.node(node);
      const bool copies = one.kind_name == "CallExpr" && one.name == packed_.name;
      const bool wraps = one.kind_name == "UnexposedExpr" || one.kind_name == "ParenExpr" || copies;
      if (!wraps || one.children.size() != 1) break;
      node = one.children.front();
    }
    return node;
  }

  // The element of this number of the struct that an expression is, or to which it points.
  std::string ElementOf(int node, const std::string& number) {
    if (node < 0) return Fail();
    changed_ = true;
    const SyntaxNode& one = tree_.node(node);
    if (IsPointer(one.type)) return fmt::format("({})[{}]", Written(node), number);
    const bool names = one.kind_name == "DeclRefExpr" && one.refers_to >= 0;
    if (names && tree_.node(one.refers_to).kind_name == "VarDecl") return fmt::format("{}[{}]", tree_.Text(node), number);
    if (one.kind_name == "UnaryOperator" && tree_.Operator(node) == "*")
      return fmt::format("({})[{}]", Written(one.children.front()), number);
    if (one.kind_name != "ArraySubscriptExpr") return Fail();
    const int array = Inner(one.children.front());
    const std::string of = Written(one.children.front()), index = Written(one.children.back());
    if (IsArray(tree_.node(array).type)) return fmt::format("{}[{}][{}]", of, index, number);
    return fmt::format("{}[({}) * {} + {}]", of, index, packed_.count, number);
  }

  std::string Copied(const std::string& to, const std::string& from) const {
    return fmt::format("for (int part_ = 0; part_ < {}; ++part_) {} = {}", packed_.count, to, from);
  }

  std::string Declared(int statement) {
    const auto& variables = tree_.node(statement).children;
    const auto is_packed = [&](int one) {
      const std::string& type = tree_.node(one).type;
      return tree_.node(one).kind_name == "VarDecl" && (IsStruct(one) || IsArray(type));
    };
    if (std::none_of(variables.begin(), variables.end(), is_packed)) return WithParts(statement);
    if (!std::all_of(variables.begin(), variables.end(), is_packed)) return Fail();
    changed_ = true;
    std::string text;
    const std::string_view head = tree_.Text(statement);
    const std::string shared = head.starts_with("__shared__") ? "__shared__ " : "";
    if (head.starts_with("extern") || head.starts_with("static")) return Fail();
    for (const int variable : variables) {
      const SyntaxNode& one = tree_.node(variable);
      std::string extents;
      for (const long long extent : ExtentsOf(one.type)) extents += fmt::format("[{}]", extent);
      text += fmt::format("{}{}{} {}{}[{}];", text.empty() ? "" : " ", shared, packed_.element, one.name, extents, packed_.count);
      const int value = one.children.empty() ? -1 : Inner(one.children.back());
      if (!extents.empty() && (value < 0 || tree_.node(value).kind_name != "InitListExpr")) continue;
      if (value < 0 || tree_.node(value).kind_name == "TypeRef") continue;
      // A default constructor.
      if (tree_.node(value).kind_name == "CallExpr" && tree_.node(value).children.empty()) continue;
      if (!extents.empty() || BareType(tree_.node(value).type) != packed_.name) return Fail();
      text += " " + Copied(fmt::format("{}[part_]", one.name), ElementOf(value, "part_")) + ";";
    }
    return text;
  }

  const SyntaxTree& tree_;
  ArrayStruct packed_;
  bool understood_ = true, changed_ = false;
};

}  // namespace

std::optional<std::string> WithoutArrayStructs(const SyntaxTree& tree) {
  if (tree.text().find("struct") == std::string::npos) return std::nullopt;
  for (const ArrayStruct& packed : ArrayStructsIn(tree)) {
    if (auto text = ArrayStructWriter(tree, packed).Text()) return text;
  }
  return std::nullopt;
}

}  // namespace evo
