#include "mutators/analysis/stencils/window_sums.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "core/expression.h"
#include "mutators/analysis/reductions/reduction.h"
#include "mutators/analysis/source/constant_value.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/global_memory.h"
#include "mutators/analysis/source/memory_traffic.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/analysis/source/work_sharing.h"

namespace evo {
namespace {

// A sum of four bytes.
bool IsTypeOfSum(const std::string& type) {
  return std::set<std::string>{"float", "int", "unsigned int"}.contains(WithoutConst(type));
}

// The sum `row + i` that a use of a variable is an operand of; -1 if there is none.
int SumAround(const SyntaxTree& tree, int use) {
  int at = tree.node(use).parent;
  while (at >= 0 && (tree.node(at).kind_name == "ParenExpr" || IsConversion(tree, at))) at = tree.node(at).parent;
  return at >= 0 && tree.Operator(at) == "+" && tree.node(at).children.size() == 2 ? at : -1;
}

// The variable that an expression names, also converted to another type of integers.
int NamedInteger(const SyntaxTree& tree, int expression) {
  int at = WithoutParentheses(tree, expression);
  while (IsConversion(tree, at) && IsIntegerType(tree.node(at).type))
    at = WithoutParentheses(tree, tree.node(at).children.back());
  return NamedDeclaration(tree, at);
}

bool Contains(const std::vector<int>& declarations, int one) {
  return std::find(declarations.begin(), declarations.end(), one) != declarations.end();
}

// What the loop over rows does.
class WindowLoop {
 public:
  // `of_row`: variables that depend on the thread's row; `written`: those that the kernel changes.
  WindowLoop(const SyntaxTree& tree, const WindowSums& found, const std::set<int>& of_row, const std::set<int>& written)
      : tree_(tree), found_(found), of_row_(of_row), written_(written) {}

  // Whether it adds to sums that begin at zero, and nothing else.
  bool Check() { return CheckBody() && CheckSums(); }
  const std::string& why() const { return why_; }

 private:
  bool Refuse(std::string why) {
    why_ = std::move(why);
    return false;
  }

  // Whether nothing in the loop depends on the thread's row, or on how far it is, but by their sum.
  bool CheckBody() {
    for (const int node : Subtree(tree_, found_.loop.parts.statement)) {
      const SyntaxNode& use = tree_.node(node);
      if (use.opaque) return Refuse(fmt::format("what the macro `{}` does in it is not understood", tree_.Text(node)));
      if (use.kind_name != "DeclRefExpr" || !of_row_.contains(use.refers_to) || Contains(found_.sums, use.refers_to)) continue;
      const int sum = use.refers_to == found_.Row().declaration && IsWithin(tree_, node, found_.loop.parts.body)
                          ? SumAround(tree_, node)
                          : -1;
      const auto& sides = sum < 0 ? std::vector<int>{} : tree_.node(sum).children;
      const bool with_counter =
          std::any_of(sides.begin(), sides.end(), [&](int side) { return NamedInteger(tree_, side) == found_.loop.counter; });
      if (!with_counter) return Refuse(fmt::format("what it adds up depends on {}, and not on the row alone", use.name));
    }
    return IsPlain(found_.loop.parts.body);
  }

  // Whether statements do nothing but declare, add to sums, and decide whether to.
  bool IsPlain(int statement) {
    const SyntaxNode& node = tree_.node(statement);
    const auto all_plain = [&](const auto& children) {
      return std::all_of(children.begin(), children.end(), [&](int child) { return IsPlain(child); });
    };
    if (node.kind_name == "CompoundStmt") return all_plain(node.children);
    if (node.kind_name == "NullStmt" || node.kind_name == "ContinueStmt" || node.kind_name == kPragmaKind) return true;
    if (node.kind_name == "IfStmt") {
      if (!IsPure(tree_, node.children.front())) return RefuseStatement(node.children.front());
      return all_plain(std::vector<int>(node.children.begin() + 1, node.children.end()));
    }
    if (node.kind_name == "ForStmt") {
      const auto loop = AsCountedLoop(tree_, statement);
      return loop ? IsPlain(loop->parts.body) : RefuseStatement(statement);
    }
    if (node.kind_name == "DeclStmt") {
      for (const int variable : node.children) {
        const SyntaxNode& declared = tree_.node(variable);
        if (declared.kind_name != "VarDecl" || written_.contains(variable) ||
            (!declared.children.empty() && !IsPure(tree_, declared.children.back())))
          return RefuseStatement(statement);
      }
      return true;
    }
    return Added(statement) >= 0 || RefuseStatement(statement);
  }
  bool RefuseStatement(int statement) {
    return Refuse(fmt::format("{} in its loop over rows is more than a sum", Quoted(tree_, statement)));
  }

  // The sum to which a statement adds: `sum += e`, `++sum` or `sum = sum + e`; -1 if it does anything else.
  int Added(int statement) {
    const auto& parts = tree_.node(statement).children;
    const int sum = parts.empty() ? -1 : NamedDeclaration(tree_, parts.front());
    if (sum < 0 || !Contains(found_.sums, sum)) return -1;
    if (IsCount(tree_, statement)) return tree_.Operator(statement) == "++" ? Noted(parts.front(), sum) : -1;
    if (parts.size() != 2 || !IsAssignment(tree_, statement)) return -1;
    if (tree_.Operator(statement) == "+=") return IsPure(tree_, parts[1]) ? Noted(parts.front(), sum) : -1;
    const int value = WithoutParentheses(tree_, parts[1]);
    if (tree_.Operator(statement) != "=" || tree_.Operator(value) != "+" || tree_.node(value).children.size() != 2 ||
        NamedDeclaration(tree_, tree_.node(value).children[0]) != sum || !IsPure(tree_, value))
      return -1;
    Noted(tree_.node(value).children[0], sum);
    return Noted(parts.front(), sum);
  }
  int Noted(int place, int sum) {
    added_.insert(WithoutParentheses(tree_, place));
    return sum;
  }

  bool CheckSums() {
    for (const int sum : found_.sums) {
      const SyntaxNode& declared = tree_.node(sum);
      if (declared.kind_name != "VarDecl" || !IsTypeOfSum(declared.type) || IsMemoryName(tree_, sum))
        return Refuse(fmt::format("{} is no sum of float, int or unsigned", declared.name));
      const auto zero = declared.children.empty() ? std::nullopt : RealConstant(tree_, tree_.Text(declared.children.back()));
      const auto whole = declared.children.empty() ? std::nullopt : ConstantValue(tree_, tree_.Text(declared.children.back()));
      if (!(zero && *zero == 0) && !(whole && *whole == 0))
        return Refuse(fmt::format("{} does not begin at zero", declared.name));
      for (const int use : tree_.UsesOf(sum)) {
        const bool inside = IsWithin(tree_, use, found_.loop.parts.statement);
        if (inside && !added_.contains(use))
          return Refuse(fmt::format("its loop over rows does more with {} than add to it", declared.name));
        const bool behind =
            std::any_of(found_.after.begin(), found_.after.end(), [&](int statement) { return IsWithin(tree_, use, statement); });
        if (!inside && !behind) return Refuse(fmt::format("{} is used before its loop over rows", declared.name));
      }
    }
    return true;
  }

  const SyntaxTree& tree_;
  const WindowSums& found_;
  const std::set<int>& of_row_;
  const std::set<int>& written_;
  std::set<int> added_;  // names of sums where something is added to them
  std::string why_;
};

class WindowFinder {
 public:
  WindowFinder(const MutationContext& context, int kernel)
      : context_(context), tree_(context.tree), kernel_(kernel), written_(WrittenIn(context.tree, kernel)) {}

  std::variant<WindowSums, std::string> Find() {
    const auto grid = AsElementGrid(context_, kernel_);
    if (!std::holds_alternative<ElementGrid>(grid)) return "";
    found_.grid = std::get<ElementGrid>(grid);
    if (found_.grid.flat >= 0 || !FindLoop()) return "";
    if (!FindRow()) return "";
    if (!SplitStatements()) return why_;
    WindowLoop loop(tree_, found_, of_row_, written_);
    if (!loop.Check()) return loop.why();
    if (!CheckBuiltins() || !CheckTraffic() || !FindWindow()) return why_;
    return found_;
  }

 private:
  bool Refuse(std::string why) {
    why_ = std::move(why);
    return false;
  }

  // A loop with another one in it, in which something is added up.
  bool FindLoop() {
    for (const int statement : found_.grid.statements) {
      const auto loop = AsCountedLoop(tree_, statement);
      if (!loop || !ContainsLoop(tree_, loop->parts.body) || !LoadsIn(tree_, loop->parts.body)) continue;
      if (found_.loop.counter >= 0) return false;
      found_.loop = *loop;
    }
    return found_.loop.counter >= 0 && found_.loop.step == "1" && WithoutConst(tree_.node(found_.loop.counter).type) == "int";
  }

  bool InLoop(int node) const { return IsWithin(tree_, node, found_.loop.parts.body); }

  // The index to which the counter is added wherever it is used.
  bool FindRow() {
    int row = -1;
    for (const int use : tree_.UsesOf(found_.loop.counter)) {
      if (!InLoop(use)) continue;
      const int sum = SumAround(tree_, use);
      if (sum < 0) return false;
      const auto& sides = tree_.node(sum).children;
      const bool first = NamedInteger(tree_, sides[0]) == found_.loop.counter;
      const int other = NamedInteger(tree_, sides[first ? 1 : 0]);
      if (row >= 0 && other != row) return false;
      row = other;
    }
    for (std::size_t i = 0; i < found_.grid.indices.size(); ++i) {
      if (found_.grid.indices[i].declaration == row) found_.row = i;
    }
    const ElementGrid::Index& index = found_.Row();
    return row >= 0 && index.declaration == row && index.axis == 1 && index.block_axis == 1 && found_.Column().axis == 0;
  }

  // What stands before and behind the loop.
  bool SplitStatements() {
    of_row_.insert(found_.Row().declaration);
    std::vector<int> before = found_.grid.before;
    bool behind = false;
    for (const int statement : found_.grid.statements) {
      if (statement == found_.loop.parts.statement)
        behind = true;
      else
        (behind ? found_.after : before).push_back(statement);
    }
    if (found_.loop.parts.pragma >= 0) std::erase(before, found_.loop.parts.pragma);
    for (const int written : WrittenIn(tree_, found_.loop.parts.body)) {
      if (!InLoop(written)) found_.sums.push_back(written);
    }
    if (found_.sums.empty()) return Refuse("its loop over rows adds nothing up");
    for (const int statement : before) {
      if (tree_.node(statement).kind_name != "DeclStmt") return Refuse("it does more than declare before its loop over rows");
      const auto named = NamedIn(tree_, statement);
      const auto& declared = tree_.node(statement).children;
      bool of_row = std::any_of(named.begin(), named.end(), [&](int name) { return of_row_.contains(name); });
      for (const int variable : declared) of_row = of_row || Contains(found_.sums, variable);
      if (of_row) {
        for (const int variable : declared) of_row_.insert(variable);
      } else if (LoadsIn(tree_, statement) || StoresIn(tree_, statement)) {
        return Refuse(fmt::format("{} before its loop over rows reads memory", Quoted(tree_, statement)));
      }
      (of_row ? found_.of_row : found_.common).push_back(statement);
    }
    for (const int statement : found_.after) {
      const auto nodes = Subtree(tree_, statement);
      if (std::any_of(nodes.begin(), nodes.end(), [&](int node) { return tree_.node(node).kind_name == "ReturnStmt"; }))
        return Refuse("it returns behind its loop over rows");
    }
    return true;
  }

  // The thread's number is named for its indices alone, or for a third dimension of the block where the grid has none.
  bool CheckBuiltins() {
    const auto& grid = found_.grid.launch->grid;
    const bool flat = grid.size() < 3 || grid[2].text() == "1";
    for (const int node : Subtree(tree_, kernel_)) {
      const SyntaxNode& use = tree_.node(node);
      if (use.kind_name != "DeclRefExpr" || use.refers_to >= 0) continue;
      const bool builtin = use.name == "threadIdx" || use.name == "blockIdx" || use.name == "blockDim" || use.name == "gridDim";
      if (!builtin || IsWithin(tree_, node, found_.Row().declaration) || IsWithin(tree_, node, found_.Column().declaration))
        continue;
      int member = use.parent;
      while (member >= 0 && tree_.node(member).kind_name != "MemberRefExpr") member = tree_.node(member).parent;
      const std::string_view text = member < 0 ? std::string_view() : tree_.Text(member);
      if (text == "threadIdx.z" && flat)
        found_.third.push_back(member);
      else if (text != "blockIdx.z" || flat)
        return Refuse(fmt::format("what `{}` stands for in it is not understood", text));
    }
    const auto& block = found_.grid.launch->block;
    const bool one = block.size() < 3 || block[2].text() == "1";
    return one || !found_.third.empty() || Refuse("its blocks have a third dimension");
  }

  // Nothing that it reads is stored to.
  bool CheckTraffic() {
    const auto traffic = TrafficOf(tree_, kernel_);
    if (!traffic) return Refuse("it is not clear to which buffers it stores");
    for (const int read : traffic->read) {
      if (read < 0 || traffic->stored.contains(read)) return Refuse("it may read what it stores");
      if (IsPassedTwice(tree_, context_.rendered, read))
        return Refuse(fmt::format("{} may be the memory of another one", tree_.node(read).name));
    }
    return true;
  }

  // An expression of the kernel as the launch line would say it; nullopt if it names anything but numbers and parameters.
  std::optional<std::string> Launched(int expression) const {
    Replacements replacements;
    for (const int node : Subtree(tree_, expression)) {
      if (tree_.node(node).kind_name != "DeclRefExpr") continue;
      const int named = tree_.node(node).refers_to;
      const auto passed = LaunchedAs(tree_, *found_.grid.launch, kernel_, named);
      if (named < 0 || written_.contains(named) || !passed) return std::nullopt;
      replacements.emplace_back(node, fmt::format("({})", *passed));
    }
    return TextWith(tree_, expression, replacements);
  }

  bool FindWindow() {
    const CountedLoop& loop = found_.loop;
    const std::string one = loop.comparison == "<" ? "" : " + 1";
    const auto text = [&](int expression) { return std::string(tree_.Text(expression)); };
    const std::string bound_text = tree_.node(WithoutParentheses(tree_, loop.bound)).kind_name == "ConditionalOperator"
                                       ? Parenthesised(text(loop.bound))
                                       : text(loop.bound);
    found_.window = bound_text + found_.LessStart(tree_) + one;
    const auto start = ConstantValue(tree_, text(loop.start)), bound = ConstantValue(tree_, text(loop.bound));
    if (start && bound) {
      found_.rows = *bound - *start + (one.empty() ? 0 : 1);
      found_.launched = std::to_string(*found_.rows);
      found_.parameters = ParametersBehind(context_, text(loop.start) + " " + text(loop.bound));
    } else {
      const auto launched_start = Launched(loop.start), launched_bound = Launched(loop.bound);
      if (!launched_start || !launched_bound) return Refuse("how many rows it adds up does not follow from its launch line");
      found_.launched = fmt::format("({}) - ({}){}", *launched_bound, *launched_start, one);
      try {
        found_.rows = Expression::Parse(found_.launched).EvaluateInteger({});
      } catch (const Error&) {
        found_.rows.reset();  // a size decides it
      }
    }
    return !found_.rows || *found_.rows >= 2 || Refuse("its window has one row");
  }

  const MutationContext& context_;
  const SyntaxTree& tree_;
  int kernel_;
  std::set<int> written_;
  std::set<int> of_row_;  // variables that depend on the thread's row
  WindowSums found_;
  std::string why_;
};

}  // namespace

std::string WindowSums::LessStart(const SyntaxTree& tree) const {
  const std::string start(tree.Text(loop.start));
  const std::string away = start.starts_with('-') ? start.substr(1) : "";
  return !away.empty() && Parenthesised(away) == away ? " + " + away : " - " + Parenthesised(start);
}

std::variant<WindowSums, std::string> AsWindowSums(const MutationContext& context, int kernel) {
  return WindowFinder(context, kernel).Find();
}

}  // namespace evo
