#include "mutators/analysis/source/reused_read.h"

#include <algorithm>
#include <functional>

#include "mutators/analysis/source/constant_value.h"
#include "mutators/analysis/source/data_flow.h"

namespace evo {
namespace {

bool CountsFromZero(const SyntaxTree& tree, const CountedLoop& loop) {
  return loop.step == "1" && loop.comparison == "<" && tree.Text(loop.start) == "0" &&
         ConstantValue(tree, tree.Text(loop.bound)).value_or(0) > 0;
}

// The loops between a body and a node in it, outermost first; nullopt if some iteration does not reach the node.
std::optional<std::vector<CountedLoop>> LoopsTo(const SyntaxTree& tree, int node, int body) {
  std::vector<CountedLoop> loops;
  for (int at = node; at != body; at = tree.node(at).parent) {
    const int parent = tree.node(at).parent;
    if (tree.node(parent).kind_name == "ForStmt") {
      const auto loop = AsCountedLoop(tree, parent);
      if (!loop || at != loop->parts.body) return std::nullopt;
      loops.insert(loops.begin(), *loop);
    } else if (!IsUnconditional(tree, at, parent)) {
      return std::nullopt;
    }
  }
  return loops;
}

// The number of elements that a function of this file reads through a parameter, all of them in loops that count from 0; empty if
// that is not clear.
std::string RowLength(const SyntaxTree& tree, int call, std::size_t argument) {
  const int function = NamedDeclaration(tree, tree.node(call).children.front());
  if (function < 0 || tree.node(function).kind_name != "FunctionDecl" || !CallsPure(tree, call)) return "";
  std::vector<int> parameters;
  for (const int child : tree.node(function).children) {
    if (tree.node(child).kind_name == "ParmDecl") parameters.push_back(child);
  }
  if (argument >= parameters.size()) return "";
  std::string length;
  for (const int node : Subtree(tree, function)) {
    const SyntaxNode& name = tree.node(node);
    if (std::find(name.hidden.begin(), name.hidden.end(), parameters[argument]) != name.hidden.end()) return "";
    if (name.kind_name != "DeclRefExpr" || name.refers_to != parameters[argument]) continue;
    const SyntaxNode& element = tree.node(name.parent);
    if (element.kind_name != "ArraySubscriptExpr" || element.children.front() != node || !element.converted) return "";
    const int counter = NamedDeclaration(tree, element.children[1]);
    if (counter < 0 || tree.node(counter).parent < 0) return "";
    const auto loop = AsCountedLoop(tree, tree.node(tree.node(counter).parent).parent);
    if (!loop || loop->counter != counter || !CountsFromZero(tree, *loop)) return "";
    const std::string bound(tree.Text(loop->bound));
    if (!length.empty() && length != bound) return "";
    length = bound;
  }
  return length;
}

// Whether a step of the index that `is_target` picks moves an address by more than one element.
bool IsScaled(const SyntaxTree& tree, int expression, const std::function<bool(int)>& is_target, const Origins& origins,
              bool scaled = false) {
  const SyntaxNode& node = tree.node(expression);
  if (is_target(expression)) return scaled;
  if (node.kind_name == "DeclRefExpr") {
    const int declaration = node.refers_to;
    if (declaration < 0 || tree.node(declaration).kind_name != "VarDecl" || tree.node(declaration).children.empty()) return false;
    if (!origins.declarations.contains(declaration) || tree.node(declaration).function < 0) return false;
    return IsScaled(tree, tree.node(declaration).children.back(), is_target, origins, scaled);
  }
  const std::string_view spelled = tree.Operator(expression);
  const bool scales = node.kind_name == "CallExpr" || (node.kind_name == "BinaryOperator" && spelled != "+" && spelled != "-");
  return std::any_of(node.children.begin(), node.children.end(),
                     [&](int child) { return IsScaled(tree, child, is_target, origins, scaled || scales); });
}

class ReusedReadFinder {
 public:
  ReusedReadFinder(const MutationContext& context, const BlockUniform& uniform, const CountedLoop& loop,
                   const LaunchDirective& launch)
      : context_(context), tree_(context.tree), uniform_(uniform), loop_(loop), launch_(launch) {}

  std::vector<ReusedRead> Find() {
    for (const int node : Subtree(tree_, loop_.parts.body)) {
      const SyntaxNode& at = tree_.node(node);
      if (at.kind_name == "ArraySubscriptExpr" && at.children.size() == 2 && at.converted && !at.type.ends_with("]")) {
        if (uniform_.IsUnwritten(at.children[0])) Add(node, WithoutConst(at.type), "");
      }
      for (std::size_t i = 1; at.kind_name == "CallExpr" && i < at.children.size(); ++i) {
        const SyntaxNode& argument = tree_.node(at.children[i]);
        if (!argument.type.starts_with("const ") || !argument.type.ends_with("*") || !uniform_.IsUnwritten(at.children[i]))
          continue;
        const std::string length = RowLength(tree_, node, i - 1);
        std::string type = WithoutConst(argument.type.substr(0, argument.type.size() - 1));
        while (type.ends_with(" ")) type.pop_back();
        if (!length.empty()) Add(at.children[i], type, length);
      }
    }
    return std::move(reads_);
  }

 private:
  void Add(int node, const std::string& type, const std::string& row_length) {
    const auto known = std::find_if(reads_.begin(), reads_.end(),
                                    [&](const ReusedRead& r) { return tree_.Text(r.places.front()) == tree_.Text(node); });
    if (SizeOf(type) == 0) return;
    const auto loops = LoopsTo(tree_, node, loop_.parts.body);
    const Origins origins = uniform_.Of(node);
    if (!loops || !origins.known || !origins.declarations.contains(loop_.counter)) return;
    ReusedRead read{{node}, type, !row_length.empty(), row_length, {}, -1, {}, 0};
    for (const CountedLoop& inner : *loops) {
      if (!origins.declarations.contains(inner.counter)) continue;
      if (!CountsFromZero(tree_, inner)) return;
      read.inner.push_back(inner);
    }
    if (!FindAxis(origins, read) || !FindVariables(origins, read)) return;
    if (known != reads_.end()) {
      if (known->variables == read.variables && known->is_row == read.is_row) known->places.push_back(node);
      return;
    }
    FindFastest(node, origins, read);
    reads_.push_back(std::move(read));
  }

  // Finds the dimension of threadIdx that the address depends on. False if no threads share the read.
  bool FindAxis(const Origins& origins, ReusedRead& read) const {
    std::size_t sharing = 0;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const std::string extent = BlockExtent(context_, launch_, axis);
      if ((origins.threads >> axis & 1u) == 0) {
        sharing += ConstantValue(tree_, extent) != 1;
        continue;
      }
      if (read.axis >= 0 || extent.empty()) return false;
      read.axis = static_cast<int>(axis);
    }
    return sharing > 0;
  }

  // Finds the variables that differ from address to address or are declared in the loop.
  bool FindVariables(const Origins& origins, ReusedRead& read) const {
    for (const int declaration : origins.declarations) {
      const SyntaxNode& node = tree_.node(declaration);
      if (node.kind_name != "VarDecl" || node.function < 0 || IsCounter(declaration, read)) continue;
      const Origins made = uniform_.Of(node.children.back());
      const bool within = IsWithin(tree_, declaration, loop_.parts.statement);
      const bool differs = made.threads != 0 || std::any_of(made.declarations.begin(), made.declarations.end(),
                                                            [&](int d) { return IsCounter(d, read); });
      if (!within && !differs) continue;
      // Only a declaration in a block can be repeated; the counter of an inner loop cannot.
      if (tree_.node(node.parent).kind_name != "DeclStmt" || tree_.node(node.parent).children.size() != 1) return false;
      if (tree_.node(tree_.node(node.parent).parent).kind_name != "CompoundStmt") return false;
      read.variables.push_back(declaration);
    }
    std::sort(read.variables.begin(), read.variables.end());
    return true;
  }

  bool IsCounter(int declaration, const ReusedRead& read) const {
    return declaration == loop_.counter ||
           std::any_of(read.inner.begin(), read.inner.end(), [&](const CountedLoop& l) { return l.counter == declaration; });
  }

  void FindFastest(int node, const Origins& origins, ReusedRead& read) const {
    const auto names = [&](int declaration) {
      return [&tree = tree_, declaration](int at) {
        return tree.node(at).kind_name == "DeclRefExpr" && tree.node(at).refers_to == declaration;
      };
    };
    for (std::size_t i = read.inner.size(); i-- > 0;) {
      read.fastest = 2 + static_cast<int>(i);
      if (!IsScaled(tree_, node, names(read.inner[i].counter), origins)) return;
    }
    read.fastest = 0;
    if (read.axis < 0 || !IsScaled(tree_, node, names(loop_.counter), origins)) return;
    const std::string thread = std::string("threadIdx.") + "xyz"[read.axis];
    if (!IsScaled(
            tree_, node, [&](int at) { return tree_.Text(at) == thread; }, origins))
      read.fastest = 1;
  }

  const MutationContext& context_;
  const SyntaxTree& tree_;
  const BlockUniform& uniform_;
  const CountedLoop& loop_;
  const LaunchDirective& launch_;
  std::vector<ReusedRead> reads_;
};

}  // namespace

std::vector<ReusedRead> ReusedReads(const MutationContext& context, const BlockUniform& uniform, const CountedLoop& loop,
                                    const LaunchDirective& launch) {
  return ReusedReadFinder(context, uniform, loop, launch).Find();
}

}  // namespace evo
