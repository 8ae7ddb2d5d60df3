#include "mutators/analysis/source/global_memory.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/memory_traffic.h"
#include "mutators/analysis/source/source_query.h"

namespace evo {
namespace {

// Bounds how deep pointers are followed through variables and calls.
constexpr int kPointerDepth = 6;

std::vector<int> ParametersOf(const SyntaxTree& tree, int function) {
  std::vector<int> parameters;
  for (const int child : tree.node(function).children) {
    if (tree.node(child).kind_name == "ParmDecl") parameters.push_back(child);
  }
  return parameters;
}

// The pointer operand of a pointer expression; -1 if it has none or two.
int PointerOperand(const SyntaxTree& tree, int expression) {
  int operand = -1;
  for (const int child : tree.node(expression).children) {
    const std::string& type = tree.node(child).type;
    if (type.find('*') == std::string::npos || tree.node(child).kind_name == "TypeRef") continue;
    if (operand >= 0) return -1;
    operand = child;
  }
  return operand;
}

// Whether every use of a pointer only reads what it points to: as `p[i]`, `*p`, in arithmetic, or as the value of another such
// pointer.
class ReadsOnly {
 public:
  ReadsOnly(const SyntaxTree& tree, const std::set<int>& stored) : tree_(tree), stored_(stored) {}

  bool Of(int pointer, int depth = kPointerDepth) const {
    if (depth == 0 || stored_.contains(pointer) || tree_.node(pointer).type.find("volatile") != std::string::npos) return false;
    const auto& uses = tree_.UsesOf(pointer);
    return std::all_of(uses.begin(), uses.end(), [&](int use) { return IsRead(use, depth); });
  }

 private:
  bool IsRead(int use, int depth) const {
    if (tree_.node(use).kind_name != "DeclRefExpr") return false;
    for (int at = use, outer = tree_.node(at).parent; outer > 0; at = outer, outer = tree_.node(at).parent) {
      const SyntaxNode& node = tree_.node(outer);
      const std::string_view spelled = tree_.Operator(outer);
      const bool element = (node.kind_name == "ArraySubscriptExpr" && node.children.front() == at) ||
                           (node.kind_name == "UnaryOperator" && spelled == "*");
      if (element) return node.converted;
      if (node.kind_name == "VarDecl") return node.type.ends_with('*') && node.function >= 0 && Of(outer, depth - 1);
      const bool sum = node.kind_name == "BinaryOperator" && (spelled == "+" || spelled == "-");
      if (node.kind_name != "ParenExpr" && node.kind_name != "CStyleCastExpr" && !sum) return false;
    }
    return false;
  }

  const SyntaxTree& tree_;
  const std::set<int>& stored_;
};

// The parameters that a kernel stores through, arrays of its own left out; nullopt if it is not clear which.
std::optional<std::set<int>> StoredThrough(const SyntaxTree& tree, int kernel) {
  std::set<int> stored;
  for (const int node : Subtree(tree, kernel)) {
    if (!IsStore(tree, node)) continue;
    const int target = WithoutMembers(tree, Assigned(tree, node));
    const int owner = Owner(tree, target), pointer = PointerAt(tree, target);
    if (IsLocalArray(tree, owner)) continue;
    const int root = pointer < 0 ? -1 : RootOf(tree, pointer);
    if (root < 0) return std::nullopt;
    stored.insert(root);
  }
  return stored;
}

// The parameters of kernels that are no pointers to constants, but used like them.
const std::set<int>& ParametersOnlyRead(const SyntaxTree& tree) {
  return tree.Kept<std::set<int>>("parameters only read", [&] {
    std::set<int> only_read;
    for (const int kernel : Functions(tree)) {
      if (!IsKernel(tree, kernel)) continue;
      const auto stored = StoredThrough(tree, kernel);
      if (!stored) continue;
      const ReadsOnly reads(tree, *stored);
      for (const int parameter : ParametersOf(tree, kernel)) {
        const std::string& type = tree.node(parameter).type;
        const bool one = type.ends_with('*') && std::count(type.begin(), type.end(), '*') == 1;
        if (one && !tree.UsesOf(parameter).empty() && reads.Of(parameter)) only_read.insert(parameter);
      }
    }
    return only_read;
  });
}

class Tracer {
 public:
  // With `read_only`, accepts only memory that no thread writes; otherwise any global memory.
  Tracer(const SyntaxTree& tree, const KernelTemplate& rendered, bool read_only)
      : tree_(tree), rendered_(rendered), read_only_(read_only) {}

  bool Follow(int pointer, int depth) const {
    if (depth == 0 || pointer < 0) return false;
    const SyntaxNode& node = tree_.node(pointer);
    const std::string& kind = node.kind_name;
    if (kind == "DeclRefExpr") return node.refers_to >= 0 && FollowDeclaration(node.refers_to, depth);
    if (kind == "UnaryOperator" && tree_.Operator(pointer) == "&") {
      const SyntaxNode& element = tree_.node(node.children.front());
      return element.kind_name == "ArraySubscriptExpr" && Follow(element.children.front(), depth);
    }
    if (kind == "ParenExpr" || kind == "BinaryOperator" || kind == "CStyleCastExpr" || kind == "CXXReinterpretCastExpr" ||
        kind == "CXXStaticCastExpr") {
      return Follow(PointerOperand(tree_, pointer), depth);
    }
    return false;
  }

 private:
  // Whether what a pointer points to is not changed by it: a constant, or the buffer of a parameter that is only read.
  bool IsUnchangedBy(const SyntaxNode& pointer, int parameter) const {
    return !read_only_ || pointer.type.starts_with("const ") || ParametersOnlyRead(tree_).contains(parameter);
  }

  bool FollowDeclaration(int declaration, int depth) const {
    const SyntaxNode& node = tree_.node(declaration);
    if (node.type.find('*') == std::string::npos) return false;
    if (node.kind_name == "ParmDecl") return FollowParameter(declaration, depth);
    if (node.kind_name != "VarDecl" || node.function < 0 || node.children.empty()) return false;
    const bool unchanged = IsUnchangedBy(node, RootOf(tree_, node.children.back()));
    return unchanged && !IsPointedElsewhere(declaration) && Follow(node.children.back(), depth - 1);
  }

  // Whether a pointer may come to point into another buffer: by `p = q`, `&p` or `T*& r = p`. Moves within its buffer, `p += n`
  // and `++p`, are harmless.
  bool IsPointedElsewhere(int declaration) const {
    if (IsMemoryName(tree_, declaration)) return true;
    for (const int at : Subtree(tree_, tree_.node(declaration).function)) {
      if (tree_.node(at).kind_name != "BinaryOperator" || tree_.Operator(at) != "=") continue;
      if (NamedDeclaration(tree_, tree_.node(at).children.front()) == declaration) return true;
    }
    return false;
  }

  bool FollowParameter(int parameter, int depth) const {
    const SyntaxNode& node = tree_.node(parameter);
    if (node.function < 0 || IsPointedElsewhere(parameter)) return false;
    if (!IsUnchangedBy(node, parameter)) return false;
    if (IsKernel(tree_, node.function)) return !read_only_ || !IsPassedTwice(tree_, rendered_, parameter);
    const auto parameters = ParametersOf(tree_, node.function);
    const auto place = static_cast<std::size_t>(std::find(parameters.begin(), parameters.end(), parameter) - parameters.begin());
    bool called = false;
    for (const int call : NodesOfKind(tree_, "CallExpr")) {
      const auto& parts = tree_.node(call).children;
      if (parts.empty() || NamedDeclaration(tree_, parts.front()) != node.function) continue;
      called = true;
      if (parts.size() <= place + 1 || !Follow(parts[place + 1], depth - 1)) return false;
    }
    return called;
  }

  const SyntaxTree& tree_;
  const KernelTemplate& rendered_;
  bool read_only_;
};

}  // namespace

bool IsReadOnlyGlobal(const SyntaxTree& tree, const KernelTemplate& rendered, int pointer) {
  return Tracer(tree, rendered, true).Follow(pointer, kPointerDepth);
}

bool IsGlobal(const SyntaxTree& tree, const KernelTemplate& rendered, int pointer) {
  return Tracer(tree, rendered, false).Follow(pointer, kPointerDepth);
}

bool IsPassedTwice(const SyntaxTree& tree, const KernelTemplate& rendered, int parameter) {
  const SyntaxNode& kernel = tree.node(tree.node(parameter).function);
  const auto parameters = ParametersOf(tree, tree.node(parameter).function);
  const auto place = static_cast<std::size_t>(std::find(parameters.begin(), parameters.end(), parameter) - parameters.begin());
  for (const Step& step : rendered.steps) {
    if (!step.launch || step.launch->kernel != kernel.name) continue;
    const auto& arguments = step.launch->arguments;
    if (place >= arguments.size() || std::count(arguments.begin(), arguments.end(), arguments[place]) > 1) return true;
  }
  return false;
}

bool IsLoadable(std::string_view type) {
  constexpr std::array<std::string_view, 24> kTypes{"float",
                                                    "double",
                                                    "int",
                                                    "unsigned int",
                                                    "short",
                                                    "unsigned short",
                                                    "char",
                                                    "signed char",
                                                    "unsigned char",
                                                    "long long",
                                                    "unsigned long long",
                                                    "float2",
                                                    "float4",
                                                    "double2",
                                                    "int2",
                                                    "int4",
                                                    "uint2",
                                                    "uint4",
                                                    "__half",
                                                    "__half2",
                                                    "short2",
                                                    "short4",
                                                    "__nv_bfloat16",
                                                    "__nv_bfloat162"};
  return std::find(kTypes.begin(), kTypes.end(), type) != kTypes.end();
}

}  // namespace evo
