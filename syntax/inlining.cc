#include "syntax/inlining.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "syntax/called_body.h"
#include "syntax/lambda.h"

namespace evo {
namespace {

// No function so long is written out.
constexpr std::uint32_t kLongestInlined = 4000;

// A function, or a lambda of a variable, that may be written out where it is called.
struct Callee {
  int body = -1;
  int result = -1;              // the expression that it returns; -1 for none
  int return_statement = -1;    // the last statement
  std::vector<int> parameters;  // declarations
  bool is_expression = false;   // does nothing but return
};

// Where a call stands.
struct Site {
  int call = -1;
  int statement = -1;  // that is replaced; the call itself for an expression
  int target = -1;     // what is assigned to, or the VarDecl; -1 for nothing
};

std::string WithoutConst(std::string type) {
  if (type.starts_with("const ")) type.erase(0, 6);
  return type;
}

// What is called may do more than compute.
bool HasCall(const SyntaxTree& tree, int expression) {
  for (int at = expression; at < tree.EndOf(expression); ++at) {
    if (tree.node(at).kind_name == "CallExpr") return true;
  }
  return false;
}

class Inliner {
 public:
  explicit Inliner(const SyntaxTree& tree) : tree_(tree) {}

  std::optional<std::string> Run() {
    std::vector<std::pair<SourceRange, std::string>> splices;
    for (int node = 1; node < static_cast<int>(tree_.nodes().size()); ++node) {
      const SyntaxNode& call = tree_.node(node);
      if (LambdaOf(tree_, node) >= 0 && tree_.UsesOf(node).empty() && tree_.node(call.parent).children.size() == 1)
        splices.emplace_back(tree_.node(call.parent).range, "");
      if (call.kind_name != "CallExpr" || call.function < 0 || call.children.empty()) continue;
      const int named = NamedAlone(tree_, call.children.front()), lambda = LambdaOf(tree_, named);
      const int function = lambda >= 0 ? lambda : named;
      if (lambda >= 0 && !CapturesTheSame(tree_, lambda)) continue;
      const auto callee = function < 0 || function == call.function ? std::nullopt : CalleeOf(function);
      if (!callee || callee->parameters.size() + FirstArgument(node) != call.children.size()) continue;
      const auto site = SiteOf(node, *callee);
      if (!site) continue;
      const SourceRange& range = tree_.node(site->statement).range;
      if (!splices.empty() && splices.back().first.end > range.begin) continue;  // within another; the next time
      if (const auto text = Inlined(*site, *callee)) splices.emplace_back(range, *text);
    }
    if (splices.empty()) return std::nullopt;
    std::string text = tree_.text();
    for (auto splice = splices.rbegin(); splice != splices.rend(); ++splice)
      text.replace(splice->first.begin, splice->first.size(), splice->second);
    return text;
  }

 private:
  bool IsKernel(int function) const {
    const auto& children = tree_.node(function).children;
    return std::any_of(children.begin(), children.end(),
                       [&](int child) { return tree_.node(child).kind_name == "attribute(global)"; });
  }

  // Of a call's children: behind the function, or the lambda and its operator.
  std::size_t FirstArgument(int call) const {
    return LambdaOf(tree_, NamedAlone(tree_, tree_.node(call).children.front())) >= 0 ? 2 : 1;
  }

  std::optional<Callee> CalleeOf(int function) const {
    const SyntaxNode& node = tree_.node(function);
    if (node.children.empty()) return std::nullopt;
    if (node.kind_name != "LambdaExpr" && (node.kind_name != "FunctionDecl" || node.parent != 0 || IsKernel(function)))
      return std::nullopt;
    Callee callee;
    callee.body = node.children.back();
    const SyntaxNode& body = tree_.node(callee.body);
    if (body.kind_name != "CompoundStmt" || body.range.size() > kLongestInlined) return std::nullopt;
    for (const int child : node.children) {
      if (tree_.node(child).kind_name == "ParmDecl") callee.parameters.push_back(child);
    }
    for (int at = callee.body; at < tree_.EndOf(callee.body); ++at) {
      const SyntaxNode& one = tree_.node(at);
      if (one.kind_name == "LambdaExpr" || one.kind_name == "GotoStmt" || one.kind_name == "LabelStmt" || one.opaque)
        return std::nullopt;
      if (one.kind_name.find("Asm") != std::string::npos) return std::nullopt;
      if (one.kind_name != "ReturnStmt") continue;
      if (at != body.children.back() || one.children.size() > 1) return std::nullopt;
      callee.return_statement = at;
      callee.result = one.children.empty() ? -1 : one.children.front();
    }
    callee.is_expression = callee.result >= 0 && body.children.size() == 1 && OnlyComputes(callee.result);
    return HasConditions(tree_.Text(body.range)) ? std::nullopt : std::optional(callee);
  }

  // Whether an expression changes nothing and waits for nobody, so that its operands may be read in any order, and again.
  bool OnlyComputes(int expression) const {
    for (int at = expression; at < tree_.EndOf(expression); ++at) {
      const SyntaxNode& one = tree_.node(at);
      if (one.opaque || ChangesFirst(tree_.Operator(at))) return false;
      const std::string_view name = one.name;
      if (one.kind_name == "CallExpr" && (name.starts_with("atomic") || name.starts_with("__sync") || name.ends_with("_sync")))
        return false;
    }
    return true;
  }

  // Whether a name stands for the same value in all of a function that is called with it: a number, an array's address, or a
  // variable of the caller that the call gives away by no reference or address.
  bool StaysTheSame(int argument, int call) const {
    const int declared = NamedAlone(tree_, argument);
    if (declared < 0) return tree_.node(argument).kind_name.ends_with("Literal") || tree_.node(argument).name.empty();
    const SyntaxNode& variable = tree_.node(declared);
    if (variable.type.ends_with("]")) return true;
    const auto is_shared = [&](int child) { return tree_.node(child).kind_name == "attribute(shared)"; };
    if (variable.type.ends_with("&") || std::any_of(variable.children.begin(), variable.children.end(), is_shared)) return false;
    if (variable.function < 0) return variable.type.starts_with("const ");
    for (const int use : tree_.UsesOf(declared)) {
      const SyntaxNode& parent = tree_.node(tree_.node(use).parent);
      if (tree_.node(use).kind_name != "DeclRefExpr" || parent.kind_name == "LambdaExpr") return false;
      if (parent.children.size() == 1 && tree_.Operator(tree_.node(use).parent) == "&") return false;
      // By reference, to this call.
      if (tree_.node(use).parent == call && !tree_.node(use).converted) return false;
    }
    return true;
  }

  // The statement that a node is, with its `;`.
  bool IsStatement(int node) const {
    const std::string& kind = tree_.node(tree_.node(node).parent).kind_name;
    return (kind == "CompoundStmt" || kind == "IfStmt" || kind == "ForStmt" || kind == "WhileStmt") &&
           tree_.Text(node).ends_with(';');
  }

  // Whether an expression is an element of an array, and a function does not change which one.
  bool IsElementApart(int expression, const Callee& callee) const {
    if (tree_.node(expression).kind_name != "ArraySubscriptExpr" || !OnlyComputes(expression)) return false;
    for (int at = expression; at < tree_.EndOf(expression); ++at) {
      if (tree_.node(at).kind_name == "CallExpr") return false;
    }
    return ChangesOnlyItsOwn(tree_, callee.body, callee.parameters);
  }

  std::optional<Site> SiteOf(int call, const Callee& callee) const {
    const int parent = tree_.node(call).parent;
    if (callee.is_expression) return Site{call, call, -1};
    if (IsStatement(call)) return Site{call, call, -1};
    if (callee.result < 0) return std::nullopt;
    const SyntaxNode& outer = tree_.node(parent);
    if (tree_.Operator(parent) == "=" && outer.children.size() == 2 && outer.children[1] == call && IsStatement(parent) &&
        (tree_.node(outer.children[0]).kind_name == "DeclRefExpr" || IsElementApart(outer.children[0], callee)))
      return Site{call, parent, outer.children[0]};
    if (outer.kind_name != "VarDecl" || outer.children.back() != call) return std::nullopt;
    const SyntaxNode& declaration = tree_.node(outer.parent);
    const bool alone = declaration.kind_name == "DeclStmt" && declaration.children.size() == 1;
    if (!alone || tree_.node(declaration.parent).kind_name != "CompoundStmt") return std::nullopt;
    const bool plain = outer.type.find_first_of("*&[(") == std::string::npos;
    return plain ? std::optional(Site{call, outer.parent, parent}) : std::nullopt;
  }

  bool IsSimple(int expression) const {
    const SyntaxNode& node = tree_.node(expression);
    return !node.opaque && node.children.empty() && tree_.Tokens(node.range).size() == 1;
  }

  // Whether a function changes a parameter, or takes its address.
  bool IsWritten(const Callee& callee, int parameter) const {
    for (const int use : tree_.UsesOf(parameter)) {
      if (tree_.node(use).kind_name != "DeclRefExpr") return true;
      int at = use, outer = tree_.node(use).parent;
      while (tree_.node(outer).kind_name == "ParenExpr") at = outer, outer = tree_.node(outer).parent;
      const std::string_view spelled = tree_.Operator(outer);
      if (ChangesFirst(spelled) && tree_.node(outer).children.front() == at) return true;
      if (spelled == "&" && tree_.node(outer).children.size() == 1) return true;
      // Passed on, perhaps by reference.
      const bool passed = tree_.node(outer).kind_name == "CallExpr" && !tree_.node(use).converted &&
                          tree_.node(parameter).type.find('*') == std::string::npos;
      if (passed && NamedAlone(tree_, tree_.node(outer).children.front()) >= 0) return true;
    }
    return callee.body < 0;
  }

  std::string Fresh(const std::string& wanted, const std::set<std::string_view>& taken) {
    std::string name = wanted;
    for (int number = 2; taken.contains(name) || used_.contains(name); ++number) name = fmt::format("{}_{}", wanted, number);
    used_.insert(name);
    return name;
  }

  // The text of a node with other names for some declarations.
  std::string TextWith(int node, const std::map<int, std::string>& names) const {
    const SourceRange& range = tree_.node(node).range;
    std::string text(tree_.Text(node));
    for (int at = tree_.EndOf(node) - 1; at >= node; --at) {
      const SyntaxNode& one = tree_.node(at);
      if (one.kind_name == "DeclRefExpr" && names.contains(one.refers_to)) {
        text.replace(one.range.begin - range.begin, one.range.size(), names.at(one.refers_to));
      } else if (one.kind_name == "VarDecl" && names.contains(at)) {
        // The name of a declaration is the first of its tokens that is it.
        for (const std::string_view token : tree_.Tokens(one.range)) {
          if (token != one.name) continue;
          text.replace(static_cast<std::size_t>(token.data() - tree_.text().data()) - range.begin, token.size(), names.at(at));
          break;
        }
      }
    }
    return text;
  }

  std::optional<std::string> Inlined(const Site& site, const Callee& callee) {
    const int caller = tree_.node(site.call).function;
    std::set<std::string_view> taken;
    for (const std::string_view token : tree_.Tokens(tree_.node(caller).range)) taken.insert(token);
    for (const std::string_view token : tree_.Tokens(tree_.node(callee.body).range)) taken.insert(token);
    used_.clear();
    std::map<int, std::string> names;
    std::string declarations;
    const std::size_t first = FirstArgument(site.call);
    for (std::size_t i = 0; i < callee.parameters.size(); ++i) {
      const int parameter = callee.parameters[i], argument = tree_.node(site.call).children[i + first];
      if (!Bind(callee, site.call, parameter, argument, taken, names, declarations)) return std::nullopt;
    }
    if (callee.is_expression) {
      if (!declarations.empty()) return std::nullopt;
      const std::string type = WithoutConst(tree_.node(site.call).type);
      const std::string value = TextWith(callee.result, names);
      const bool same = WithoutConst(tree_.node(callee.result).type) == type;
      const bool pointer = type.find('*') != std::string::npos;
      if (!same && pointer) return std::nullopt;
      const std::string_view end = tree_.Text(site.call).ends_with(';') ? ";" : "";
      return same ? fmt::format("({}){}", value, end) : fmt::format("({})({}){}", type, value, end);
    }
    for (int at = callee.body; at < tree_.EndOf(callee.body); ++at) {
      const SyntaxNode& one = tree_.node(at);
      if (one.kind_name == "VarDecl") names[at] = Fresh(one.name, taken);
    }
    return Block(site, callee, names, declarations);
  }

  // What stands for a parameter: the argument, if it is short and stays the same, or a variable of its own.
  bool Bind(const Callee& callee, int call, int parameter, int argument, const std::set<std::string_view>& taken,
            std::map<int, std::string>& names, std::string& declarations) {
    const SyntaxNode& declared = tree_.node(parameter);
    if (declared.type.find("auto") != std::string::npos || declared.type.starts_with("type-parameter")) return false;
    std::string text(tree_.Text(argument));
    const std::string from = WithoutConst(tree_.node(argument).type), to = WithoutConst(declared.type);
    if (to.ends_with("&") || to.find("(&)") != std::string::npos) {
      names[parameter] = IsSimple(argument) ? text : fmt::format("({})", text);
      return IsSimple(argument) || tree_.node(argument).kind_name == "ArraySubscriptExpr";
    }
    const bool pointer = to.find('*') != std::string::npos;
    // A group of threads is what it is, as whatever it is passed.
    const bool group = from.starts_with("cooperative_groups::") && to.starts_with("cooperative_groups::");
    if (group && IsSimple(argument)) {
      names[parameter] = text;
      return true;
    }
    const bool written = IsWritten(callee, parameter);
    // An array stands for the address of its first element.
    const bool same = from == to || (pointer && (from.ends_with("]") || from.find('*') != std::string::npos));
    // What is volatile keeps its name: lanes of a warp access it in steps.
    const bool in_steps = to.find("volatile") != std::string::npos && from.ends_with("]") && !callee.is_expression;
    if (IsSimple(argument) && !written && !in_steps && StaysTheSame(argument, call) &&
        (same || (from == "int" && to == "unsigned int" && std::isdigit(text.front())))) {
      names[parameter] = text;
      return true;
    }
    if (callee.is_expression) {
      // Read where it is named, any number of times.
      for (int at = argument; at < tree_.EndOf(argument); ++at) {
        if (tree_.node(at).kind_name == "CallExpr" && !tree_.node(at).name.starts_with("__ld")) return false;
      }
      if (!OnlyComputes(argument)) return false;
      if (written) return false;
      names[parameter] = same ? fmt::format("({})", text) : fmt::format("(({})({}))", to, text);
      return same || !pointer;
    }
    const std::string name = Fresh(declared.name, taken);
    names[parameter] = name;
    std::string type(tree_.Text(declared.range));
    const std::size_t at = type.rfind(declared.name);
    if (at == std::string::npos || type.find('=') != std::string::npos || type.find('[') != std::string::npos) return false;
    type.replace(at, declared.name.size(), name);
    declarations += fmt::format("{} = {};\n", type, text);
    return true;
  }

  std::string Block(const Site& site, const Callee& callee, const std::map<int, std::string>& names,
                    const std::string& declarations) const {
    std::string text;
    std::string target;
    if (site.target >= 0) {
      const SyntaxNode& node = tree_.node(site.target);
      target = node.kind_name == "ArraySubscriptExpr" ? std::string(tree_.Text(site.target)) : node.name;
      if (node.kind_name == "VarDecl") text += fmt::format("{} {};\n", WithoutConst(node.type), node.name);
    }
    text += "{\n" + declarations;
    for (const int statement : tree_.node(callee.body).children) {
      if (statement != callee.return_statement) text += TextWith(statement, names) + "\n";
    }
    if (callee.result >= 0 && !target.empty()) {
      const std::string type = WithoutConst(tree_.node(site.call).type);
      const std::string value = TextWith(callee.result, names);
      const bool same = WithoutConst(tree_.node(callee.result).type) == type;
      text += same ? fmt::format("{} = {};\n", target, value) : fmt::format("{} = ({})({});\n", target, type, value);
    } else if (callee.result >= 0 && (HasCall(tree_, callee.result) || !OnlyComputes(callee.result))) {
      text += TextWith(callee.result, names) + ";\n";
    }
    return text + "}";
  }

  const SyntaxTree& tree_;
  std::set<std::string, std::less<>> used_;
};

}  // namespace

std::optional<std::string> WithCallsInlined(const SyntaxTree& tree) { return Inliner(tree).Run(); }

}  // namespace evo
