#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "kernel_templates/brought_parameters.h"
#include "mutators/analysis/counted_loop.h"
#include "mutators/analysis/data_flow.h"
#include "mutators/analysis/memory_traffic.h"
#include "mutators/analysis/product_forms.h"
#include "mutators/analysis/product_store.h"
#include "mutators/analysis/source_query.h"
#include "mutators/analysis/work_sharing.h"

namespace evo {
namespace {

// Whether the launch line passes the buffer of a parameter once, so that no other parameter points to it.
bool IsPassedOnce(const MutationContext& context, int kernel, int parameter) {
  const LaunchDirective* const launch = OnlyLaunch(context.rendered, context.tree.node(kernel).name);
  if (launch == nullptr) return false;
  std::size_t place = 0;
  for (const int child : context.tree.node(kernel).children) {
    if (context.tree.node(child).kind_name != "ParmDecl") continue;
    const std::size_t at = place++;
    if (child != parameter) continue;
    const auto& arguments = launch->arguments;
    return at < arguments.size() && std::count(arguments.begin(), arguments.end(), arguments[at]) == 1;
  }
  return false;
}

// A statement's own text may end with its semicolon.
std::string Ended(const SyntaxTree& tree, int statement, std::string text) {
  if (tree.Text(statement).ends_with(";")) text += ";";
  return text;
}

// A sum that a loop adds to an element of a buffer becomes one in a variable.
class MemorySums {
 public:
  MemorySums(const MutationContext& context, int kernel)
      : context_(context), tree_(context.tree), kernel_(kernel), sum_(UnusedName(tree_.text(), "sum")) {}

  std::optional<std::string> Run() {
    for (const int node : Subtree(tree_, kernel_)) {
      if (tree_.node(node).kind_name == "ForStmt" && Replace(node)) return TextWith(tree_, 0, replacements_);
    }
    return std::nullopt;
  }

 private:
  // Of `element += value` or `element = element + value`: these; false for anything else.
  bool FindUpdate(int loop) {
    const auto& parts = tree_.node(loop).children;
    const int update = parts.empty() ? -1 : OnlyStatement(tree_, parts.back());
    if (update < 0 || !IsAssignment(tree_, update) || tree_.node(update).children.size() != 2) return false;
    update_ = update, element_ = tree_.node(update).children[0], value_ = tree_.node(update).children[1];
    if (tree_.Operator(update) == "+=") return true;
    const int added = WithoutParentheses(tree_, value_);
    if (tree_.Operator(update) != "=" || tree_.Operator(added) != "+" || tree_.node(added).children.size() != 2) return false;
    value_ = tree_.node(added).children[1];
    return IsElement(tree_.node(added).children[0]);
  }

  bool IsElement(int node) const { return SameTokens(tree_.Text(WithoutParentheses(tree_, node)), tree_.Text(element_)); }

  // Whether nothing but the update changes what the element is, or reads its buffer.
  bool IsOwn(int loop) const {
    if (tree_.node(element_).kind_name != "ArraySubscriptExpr") return false;
    const int buffer = NamedDeclaration(tree_, tree_.node(element_).children[0]);
    const std::string type = buffer < 0 ? "" : PointedTo(tree_, buffer);
    if (buffer < 0 || tree_.node(buffer).kind_name != "ParmDecl" || !IsPassedOnce(context_, kernel_, buffer)) return false;
    if (type != "float" && type != "double" && type != "int") return false;
    if (!IsPure(tree_, element_) || NamedIn(tree_, value_).contains(buffer)) return false;
    const std::set<int> written = WrittenIn(tree_, kernel_);
    for (const int name : NamedIn(tree_, element_)) {
      if (written.contains(name) && name != buffer) return false;
    }
    // No other pointer into the buffer.
    for (const int node : Subtree(tree_, kernel_)) {
      const SyntaxNode& variable = tree_.node(node);
      if (variable.kind_name == "VarDecl" && !variable.children.empty() && variable.type.find('*') != std::string::npos &&
          NamedIn(tree_, variable.children.back()).contains(buffer))
        return false;
    }
    return IsWithin(tree_, loop, kernel_);
  }

  // The statement before the loop that gives the element its first value, and that; -1 if there is none.
  int StartOf(int loop, std::string& start) const {
    const auto& siblings = tree_.node(tree_.node(loop).parent).children;
    const std::string element(tree_.Text(element_));
    start = element;
    for (auto at = std::find(siblings.begin(), siblings.end(), FirstNode(tree_, loop)); at != siblings.begin();) {
      const int before = *--at;
      // `int k;`
      if (tree_.node(before).kind_name == "DeclStmt") continue;
      const auto& sides = tree_.node(before).children;
      if (!IsAssignment(tree_, before) || sides.size() != 2 || !IsElement(sides[0])) return -1;
      const int buffer = NamedDeclaration(tree_, tree_.node(element_).children[0]);
      if (NamedIn(tree_, sides[1]).contains(buffer) && !OnlyScales(sides[1])) return -1;
      const std::string_view spelled = tree_.Operator(before);
      if (spelled == "=") return start = tree_.Text(sides[1]), before;
      if (spelled != "*=") return -1;
      return start = fmt::format("{} * {}", element, Parenthesised(tree_, sides[1])), before;
    }
    return -1;
  }

  // Whether it names the buffer only for its own element.
  bool OnlyScales(int value) const {
    const int buffer = NamedDeclaration(tree_, tree_.node(element_).children[0]);
    for (int at = value; at < tree_.EndOf(value);) {
      const bool own = tree_.node(at).kind_name == "ArraySubscriptExpr" && IsElement(at);
      if (!own && tree_.node(at).kind_name == "DeclRefExpr" && tree_.node(at).refers_to == buffer) return false;
      at = own ? tree_.EndOf(at) : at + 1;
    }
    return true;
  }

  bool Replace(int loop) {
    if (!IsInBlock(tree_, loop) || !FindUpdate(loop) || !IsOwn(loop)) return false;
    std::string start;
    const int before = StartOf(loop, start);
    const std::string declared =
        fmt::format("{} {} = {}", PointedTo(tree_, NamedDeclaration(tree_, tree_.node(element_).children[0])), sum_, start);
    const std::string turns =
        TextWith(tree_, loop, {{update_, Ended(tree_, update_, fmt::format("{} += {}", sum_, tree_.Text(value_)))}});
    const std::string stored = fmt::format("{} = {};", tree_.Text(element_), sum_);
    // The statement of its own ends with a semicolon.
    const std::string end = turns.ends_with("}") || turns.ends_with(";") ? "" : ";";
    const std::string whole = fmt::format("{}{}\n{}", turns, end, end.empty() ? stored : stored.substr(0, stored.size() - 1));
    if (before >= 0)
      replacements_ = {{before, Ended(tree_, before, declared)}, {loop, whole}};
    else
      replacements_ = {{FirstNode(tree_, loop), ""}, {loop, fmt::format("{};\n{}", declared, whole)}};
    if (before < 0 && FirstNode(tree_, loop) == loop) replacements_.erase(replacements_.begin());
    return true;
  }

  const MutationContext& context_;
  const SyntaxTree& tree_;
  int kernel_;
  std::string sum_;
  int update_ = -1, element_ = -1, value_ = -1;
  Replacements replacements_;
};

// Words of four bytes, which `__dp4a` multiplies, become vectors of bytes.
class WordsAsBytes {
 public:
  WordsAsBytes(const SyntaxTree& tree, int kernel) : tree_(tree), kernel_(kernel) {}

  std::optional<std::string> Run() {
    if (!FindVector()) return std::nullopt;
    for (const int call : Subtree(tree_, kernel_)) {
      if (tree_.node(call).kind_name == "CallExpr" && IsWord(call) && !ReplaceCall(call)) return std::nullopt;
    }
    if (replacements_.empty() || !AreOnlyFactors()) return std::nullopt;
    std::sort(replacements_.begin(), replacements_.end());
    replacements_.erase(std::unique(replacements_.begin(), replacements_.end()), replacements_.end());
    return TextWith(tree_, 0, replacements_);
  }

 private:
  bool IsWord(int call) const { return LibraryCallee(tree_, call) == "__dp4a" && tree_.node(call).children.size() == 4; }

  // `char4` or `uchar4`, by the bytes of the kernel's buffers, which must be of one type.
  bool FindVector() {
    for (const int child : tree_.node(kernel_).children) {
      if (tree_.node(child).kind_name != "ParmDecl") continue;
      const std::string type = PointedTo(tree_, child);
      if (!IsByte(type)) continue;
      const std::string vector = type == "unsigned char" ? "uchar4" : "char4";
      if (!vector_.empty() && vector_ != vector) return false;
      vector_ = vector;
    }
    return !vector_.empty();
  }

  // `sum = __dp4a(a, b, sum)` with its product written out.
  bool ReplaceCall(int call) {
    const auto& parts = tree_.node(call).children;
    const int update = tree_.node(call).parent;
    const auto& sides = tree_.node(update).children;
    const int sum = NamedDeclaration(tree_, parts[3]);
    if (!IsAssignment(tree_, update) || tree_.Operator(update) != "=" || sides.size() != 2 || sum < 0 ||
        NamedDeclaration(tree_, sides[0]) != sum || WithoutConst(tree_.node(sum).type) != "int")
      return false;
    const std::string a = Factor(parts[1]), b = Factor(parts[2]);
    if (a.empty() || b.empty()) return false;
    // Each product by itself, as the steps of a sum.
    std::string products;
    for (const char part : {'x', 'y', 'z', 'w'})
      products += fmt::format(" {} += {}.{} * {}.{};", tree_.node(sum).name, a, part, b, part);
    replacements_.emplace_back(update, fmt::format("{{{} }}", products));
    return true;
  }

  // A word as a vector; empty if it is not known where its bytes are.
  std::string Factor(int word) {
    word = WithoutParentheses(tree_, word);
    const SyntaxNode& node = tree_.node(word);
    if (const int variable = NamedDeclaration(tree_, word); variable >= 0) {
      const SyntaxNode& declared = tree_.node(variable);
      if (declared.kind_name != "VarDecl" || declared.children.empty() || tree_.node(declared.parent).children.size() != 1 ||
          WrittenIn(tree_, kernel_).contains(variable))
        return "";
      const std::string loaded = Factor(declared.children.back());
      if (loaded.empty() || NamedDeclaration(tree_, declared.children.back()) >= 0) return "";
      Declare(variable, vector_, loaded);
      return declared.name;
    }
    if (node.kind_name == "ArraySubscriptExpr" && node.children.size() == 2) {
      const std::string pointer = Pointer(node.children[0]);
      return pointer.empty() ? "" : fmt::format("{}[{}]", pointer, tree_.Text(node.children[1]));
    }
    if (tree_.Operator(word) == "*" && node.children.size() == 1) {
      const std::string pointer = Pointer(node.children[0]);
      return pointer.empty() ? "" : fmt::format("(*{})", pointer);
    }
    return IsImplicit(word) ? Factor(node.children.front()) : "";
  }

  bool IsImplicit(int node) const {
    const auto& children = tree_.node(node).children;
    return children.size() == 1 && tree_.Text(children.front()) == tree_.Text(node);
  }

  std::string Pointer(int pointer) {
    pointer = WithoutParentheses(tree_, pointer);
    if (IsImplicit(pointer)) return Pointer(tree_.node(pointer).children.front());
    const SyntaxNode& node = tree_.node(pointer);
    if (const int variable = NamedDeclaration(tree_, pointer); variable >= 0) {
      const SyntaxNode& declared = tree_.node(variable);
      if (declared.kind_name != "VarDecl" || declared.children.empty() || tree_.node(declared.parent).children.size() != 1 ||
          WrittenIn(tree_, kernel_).contains(variable))
        return "";
      const std::string cast = Pointer(declared.children.back());
      if (cast.empty()) return "";
      Declare(variable, fmt::format("{}*", vector_), cast);
      return declared.name;
    }
    if (node.kind_name != "CXXReinterpretCastExpr" && node.kind_name != "CStyleCastExpr") return "";
    const std::string to = WithoutConst(node.type.substr(0, node.type.find(" *")));
    const int operand = WithoutParentheses(tree_, node.children.back());
    const std::string& from = tree_.node(operand).type;
    if ((to != "int" && to != "unsigned int") || from.find("char") == std::string::npos) return "";
    return fmt::format("reinterpret_cast<const {}*>({})", vector_, tree_.Text(operand));
  }

  void Declare(int variable, const std::string& type, const std::string& value) {
    changed_.insert(variable);
    replacements_.emplace_back(tree_.node(variable).parent,
                               fmt::format("const {} {} = {};", type, tree_.node(variable).name, value));
  }

  // Whether the variables that become vectors are used in what was replaced alone.
  bool AreOnlyFactors() const {
    for (const int node : Subtree(tree_, kernel_)) {
      if (tree_.node(node).kind_name != "DeclRefExpr" || !changed_.contains(tree_.node(node).refers_to)) continue;
      if (std::none_of(replacements_.begin(), replacements_.end(),
                       [&](const auto& replaced) { return IsWithin(tree_, node, replaced.first); }))
        return false;
    }
    return true;
  }

  const SyntaxTree& tree_;
  int kernel_;
  std::string vector_;
  std::set<int> changed_;
  Replacements replacements_;
};

}  // namespace

std::optional<std::string> WithSumInVariable(const MutationContext& context, int kernel) {
  return MemorySums(context, kernel).Run();
}

std::optional<std::string> WithWordsAsBytes(const MutationContext& context, int kernel) {
  return WordsAsBytes(context.tree, kernel).Run();
}

std::optional<std::string> WithDeclaredCounters(const MutationContext& context, int kernel) {
  const SyntaxTree& tree = context.tree;
  Replacements counters;
  for (const int node : Subtree(tree, kernel)) {
    const SyntaxNode& statement = tree.node(node);
    if (statement.kind_name != "DeclStmt" || statement.children.size() != 1 || !IsInBlock(tree, node)) continue;
    const int counter = statement.children.front();
    const SyntaxNode& declared = tree.node(counter);
    if (declared.kind_name != "VarDecl" || !IsIntegerType(declared.type) || !declared.children.empty()) continue;
    // One loop that begins with its value, and in which all uses are.
    int loop = -1;
    for (const int at : Subtree(tree, kernel)) {
      const auto whole = AsForLoop(tree, at);
      if (!whole || !IsAssignment(tree, whole->init) || tree.Operator(whole->init) != "=" ||
          NamedDeclaration(tree, tree.node(whole->init).children.front()) != counter)
        continue;
      loop = loop < 0 ? at : -2;
    }
    if (loop < 0) continue;
    bool within = true;
    for (const int at : Subtree(tree, kernel))
      within =
          within && (tree.node(at).kind_name != "DeclRefExpr" || tree.node(at).refers_to != counter || IsWithin(tree, at, loop));
    if (!within) continue;
    const int init = AsForLoop(tree, loop)->init;
    counters.emplace_back(node, "");
    counters.emplace_back(init, fmt::format("{} {}", declared.type, tree.Text(init)));
  }
  return counters.empty() ? std::nullopt : std::optional(TextWith(tree, 0, counters));
}

}  // namespace evo
