#include "syntax/functor_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

namespace evo {
namespace {

using namespace std::string_view_literals;

// Types whose operators give the same type.
constexpr std::array kComputed{"float"sv, "double"sv, "int"sv, "unsigned int"sv, "long long"sv, "unsigned long long"sv, "long"sv};

std::string PlainValue(std::string type) {
  if (type.starts_with("const ")) type.erase(0, 6);
  while (type.ends_with('&') || type.ends_with(' ')) type.pop_back();
  return type;
}

class FunctorInliner {
 public:
  explicit FunctorInliner(const SyntaxTree& tree) : tree_(tree) {}

  std::optional<std::string> Run() const {
    std::vector<std::pair<SourceRange, std::string>> splices;
    for (int node = 1; node < static_cast<int>(tree_.nodes().size()); ++node) {
      const SyntaxNode& call = tree_.node(node);
      if (call.kind_name != "CallExpr" || call.children.empty() || call.function < 0) continue;
      if (!splices.empty() && splices.back().first.end > call.range.begin) continue;  // within another; the next time
      if (auto text = Written(node)) splices.emplace_back(call.range, std::move(*text));
    }
    if (splices.empty()) return std::nullopt;
    std::string text = tree_.text();
    for (auto splice = splices.rbegin(); splice != splices.rend(); ++splice)
      text.replace(splice->first.begin, splice->first.size(), splice->second);
    return text;
  }

 private:
  // What a call is, if it is understood.
  std::optional<std::string> Written(int node) const {
    const SyntaxNode& call = tree_.node(node);
    if (tree_.node(call.function).kind_name != "FunctionDecl") return std::nullopt;
    int object = -1, method = -1;
    std::vector<int> arguments(call.children.begin() + 1, call.children.end());
    const SyntaxNode& first = tree_.node(call.children.front());
    if (first.kind_name == "MemberRefExpr" && first.children.size() == 1) {
      object = first.children.front();
      method = first.refers_to;
    } else if (call.name == "operator()" && !arguments.empty()) {
      object = call.children.front();
      method = tree_.node(arguments.front()).refers_to;
      arguments.erase(arguments.begin());
    }
    // `Sum<float>::of(a, b)`: a static method, since it is called outside of the struct's methods.
    const int named = NamedAlone(call.children.front());
    if (method < 0 && named >= 0) method = named;
    if (method < 0 || !tree_.node(method).kind_name.ends_with("Method")) return std::nullopt;
    if (object >= 0 && !IsStateless(object, method)) return std::nullopt;
    if (tree_.node(method).children.empty()) return std::nullopt;
    std::vector<int> parameters;
    for (const int child : tree_.node(method).children) {
      if (tree_.node(child).kind_name == "ParmDecl") parameters.push_back(child);
    }
    const SyntaxNode& body = tree_.node(tree_.node(method).children.back());
    if (body.kind_name != "CompoundStmt" || body.children.size() != 1 || parameters.size() != arguments.size())
      return std::nullopt;
    const SyntaxNode& only = tree_.node(body.children.front());
    if (only.kind_name != "ReturnStmt" || only.children.size() != 1) return std::nullopt;
    return WithArguments(call, method, only.children.front(), parameters, arguments);
  }

  // What a name refers to that is not converted but to a pointer; -1 for other expressions.
  int NamedAlone(int expression) const {
    while (tree_.node(expression).kind_name == "UnexposedExpr" && tree_.node(expression).children.size() == 1)
      expression = tree_.node(expression).children.front();
    return tree_.node(expression).kind_name == "DeclRefExpr" ? tree_.node(expression).refers_to : -1;
  }

  // A variable or a new object of a struct without fields, of which nothing but the method is called.
  bool IsStateless(int object, int method) const {
    const SyntaxNode& made = tree_.node(object);
    const bool variable = made.kind_name == "DeclRefExpr" && made.refers_to >= 0;
    const bool fresh = made.kind_name == "CallExpr" || made.kind_name == "CXXFunctionalCastExpr" ||
                       made.kind_name == "InitListExpr" || made.kind_name == "UnexposedExpr";
    if (!variable && (!fresh || !tree_.Text(object).ends_with(variable ? "" : "()"))) {
      if (!fresh || !tree_.Text(object).ends_with("{}")) return false;
    }
    const int parent = tree_.node(method).parent;
    for (const int child : tree_.node(parent).children) {
      const std::string& kind = tree_.node(child).kind_name;
      if (kind == "FieldDecl" || kind == "CXXBaseSpecifier" || kind == "C++ base class specifier") return false;
    }
    const std::string& kind = tree_.node(parent).kind_name;
    return kind == "StructDecl" || kind == "ClassDecl" || kind == "ClassTemplate";
  }

  // Whether an expression does nothing but compute, however often; or once, where all lanes do it.
  bool OnlyComputes(int expression, bool once = false) const {
    for (int at = expression; at < tree_.EndOf(expression); ++at) {
      const SyntaxNode& one = tree_.node(at);
      const std::string_view spelled = tree_.Operator(at);
      const bool compares = spelled == "==" || spelled == "<=" || spelled == ">=" || spelled == "!=";
      if (one.opaque || one.kind_name == "CXXThisExpr" || one.kind_name == "LambdaExpr" || spelled == "++" || spelled == "--" ||
          (spelled.ends_with('=') && !compares))
        return false;
      const std::string_view name = one.name;
      const bool shuffles = name.starts_with("__shfl_") && once;
      const bool waits = name.starts_with("atomic") || name.starts_with("__sync") || (name.ends_with("_sync") && !shuffles);
      if (one.kind_name == "CallExpr" && waits) return false;
    }
    return true;
  }

  // Whether a result names a parameter once, and computes all that it names.
  bool NamesOnce(int result, int parameter) const {
    int times = 0;
    for (int at = result; at < tree_.EndOf(result); ++at) {
      const SyntaxNode& one = tree_.node(at);
      const std::string_view spelled = tree_.Operator(at);
      if (one.kind_name == "ConditionalOperator" || spelled == "&&" || spelled == "||") return false;
      times += one.kind_name == "DeclRefExpr" && one.refers_to == parameter;
    }
    return times == 1;
  }

  // The arguments of a struct template by the object's type, `struct S<float>`.
  std::optional<std::string> WithArguments(const SyntaxNode& call, int method, int result, const std::vector<int>& parameters,
                                           const std::vector<int>& arguments) const {
    if (!OnlyComputes(result)) return std::nullopt;
    const std::string type = PlainValue(call.type);
    std::map<int, std::string> values;
    bool known = std::find(kComputed.begin(), kComputed.end(), type) != kComputed.end();
    const bool dependent = tree_.node(result).type.find("dependent") != std::string::npos ||
                           tree_.node(result).type.find("type-parameter") != std::string::npos;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      if (!OnlyComputes(arguments[i], NamesOnce(result, parameters[i]))) return std::nullopt;
      const std::string to = PlainValue(tree_.node(parameters[i]).type), from = PlainValue(tree_.node(arguments[i]).type);
      const bool of_template = to.starts_with("type-parameter");
      if (to.find('*') != std::string::npos || tree_.node(parameters[i]).name.empty()) return std::nullopt;
      // In a template all types must be the call's.
      if (of_template && from != type) return std::nullopt;
      const std::string text(tree_.Text(arguments[i]));
      values[parameters[i]] = of_template || from == to ? fmt::format("({})", text) : fmt::format("(({})({}))", to, text);
      known = known && (of_template || to == type);
    }
    if (dependent && !known) return std::nullopt;
    const SourceRange& range = tree_.node(result).range;
    std::string text(tree_.Text(result));
    for (int at = tree_.EndOf(result) - 1; at >= result; --at) {
      const SyntaxNode& one = tree_.node(at);
      // A type of the template, that which the method returns.
      const bool of_template =
          one.kind_name == "TypeRef" && one.refers_to >= 0 && tree_.node(one.refers_to).kind_name.starts_with("Template");
      if (of_template && !tree_.node(method).type.starts_with(tree_.node(one.refers_to).type + " (")) return std::nullopt;
      if (of_template) text.replace(one.range.begin - range.begin, one.range.size(), type);
      if (one.kind_name == "TypeRef" && one.refers_to < 0) return std::nullopt;
      if (one.kind_name != "DeclRefExpr" || one.refers_to < 0) continue;
      const auto value = values.find(one.refers_to);
      if (value == values.end()) return std::nullopt;
      text.replace(one.range.begin - range.begin, one.range.size(), value->second);
    }
    const bool same = dependent || PlainValue(tree_.node(result).type) == type;
    const std::string_view end = tree_.Text(call.range).ends_with(';') ? ";" : "";
    return same ? fmt::format("({}){}", text, end) : fmt::format("(({})({})){}", type, text, end);
  }

  const SyntaxTree& tree_;
};

}  // namespace

std::optional<std::string> WithoutFunctorCalls(const SyntaxTree& tree) {
  if (tree.text().find("struct") == std::string::npos && tree.text().find("class") == std::string::npos) return std::nullopt;
  return FunctorInliner(tree).Run();
}

}  // namespace evo
