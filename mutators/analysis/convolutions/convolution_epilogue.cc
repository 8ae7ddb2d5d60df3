#include "mutators/analysis/convolutions/convolution_epilogue.h"

#include <fmt/format.h>

#include <algorithm>

#include "mutators/analysis/numbers/integer_arithmetic.h"
#include "mutators/analysis/source/affine_index.h"
#include "mutators/analysis/source/constant_value.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/memory_traffic.h"
#include "mutators/analysis/source/source_query.h"

namespace evo {
namespace {

using ConvolutionRole = Convolution::Role;

std::int64_t RoleValue(ConvolutionRole role, const ConvolutionObserved& one) {
  const std::int64_t pixels = one.shape.OutPixels();
  const auto [image, filter, at] = one.shape.PlaceOf(one.element);
  const std::int64_t pixel = (at.z * one.shape.out_height + at.y) * one.shape.out_width + at.x;
  switch (role) {
    case ConvolutionRole::kImage:
      return image;
    case ConvolutionRole::kFilter:
      return filter;
    case ConvolutionRole::kRow:
      return at.y;
    case ConvolutionRole::kColumn:
      return at.x;
    case ConvolutionRole::kPixel:
      return pixel;
    case ConvolutionRole::kPlane:
      return image * one.shape.filters + filter;
    case ConvolutionRole::kPlanePixel:
      return filter * pixels + pixel;
    case ConvolutionRole::kDepth:
      return at.z;
    case ConvolutionRole::kElement:
      break;
  }
  return one.element;
}

// The symbol of `blockIdx.x` and the like; 0 for other nodes.
int BuiltinAt(const SyntaxTree& tree, int node) {
  if (tree.node(node).kind_name != "MemberRefExpr") return 0;
  const std::string_view text = tree.Text(node);
  for (const std::string_view builtin : {"threadIdx", "blockIdx", "blockDim", "gridDim"}) {
    if (text.size() != builtin.size() + 2 || !text.starts_with(builtin)) continue;
    const std::size_t axis = std::string_view("xyz").find(text.back());
    if (axis != std::string_view::npos) return BuiltinSymbol(builtin, axis);
  }
  return 0;
}

// An operator that computes an integer.
std::optional<IntegerOperator> OperationAt(const SyntaxTree& tree, int node) {
  if (tree.node(node).kind_name != "BinaryOperator") return std::nullopt;
  const IntegerOperator operation(tree.Operator(node));
  using Kind = IntegerOperator::Kind;
  const bool computes = operation.kind() == Kind::kPlus || operation.kind() == Kind::kMinus || operation.kind() == Kind::kTimes ||
                        operation.kind() == Kind::kDivide || operation.kind() == Kind::kRemainder;
  return computes ? std::optional(operation) : std::nullopt;
}

// What an expression of integers was in a thread. nullopt for others, and where a part is below 0, which unsigned ones are not.
std::optional<std::int64_t> ValueIn(const SyntaxTree& tree, int expression, const ConvolutionObserved& one) {
  const int node = WithoutParentheses(tree, expression);
  std::optional<std::int64_t> value;
  const int symbol = BuiltinAt(tree, node);
  if (const auto known = one.integers.find(symbol != 0 ? symbol : tree.node(node).refers_to); known != one.integers.end()) {
    if (symbol != 0 || tree.node(node).kind_name == "DeclRefExpr") value = known->second;
  } else if (const auto operation = OperationAt(tree, node)) {
    const auto a = ValueIn(tree, tree.node(node).children.front(), one), b = ValueIn(tree, tree.node(node).children.back(), one);
    if (a && b) value = operation->Result(*a, *b);
  } else {
    value = ConstantValue(tree, tree.Text(node));
  }
  return value && *value >= 0 ? value : std::nullopt;
}

}  // namespace

ConvolutionEpilogue::ConvolutionEpilogue(const SyntaxTree& tree, const ConvolutionParts& parts,
                                         const std::vector<ConvolutionObserved>& observed, const std::set<int>& written)
    : tree_(tree), parts_(parts), observed_(observed), written_(written), statements_(parts.epilogue) {}

bool ConvolutionEpilogue::Refuse(std::string why) {
  why_ = std::move(why);
  return false;
}

// Declarations that nothing but the elements' indices needs, which are written anew.
void ConvolutionEpilogue::DropUnused() {
  const auto is_index = [&](int use) {
    return std::any_of(parts_.stored.begin(), parts_.stored.end(), [&](int stored) { return IsWithin(tree_, use, stored); });
  };
  std::erase_if(statements_, [&](int statement) {
    if (tree_.node(statement).kind_name != "DeclStmt") return false;
    const auto& variables = tree_.node(statement).children;
    return std::all_of(variables.begin(), variables.end(), [&](int variable) {
      const auto& uses = tree_.UsesOf(variable);
      return tree_.node(variable).kind_name == "VarDecl" && std::all_of(uses.begin(), uses.end(), is_index);
    });
  });
}

bool ConvolutionEpilogue::AddTo(Convolution& found) {
  DropUnused();
  for (const int statement : statements_) {
    if (!Resolve(statement)) return false;
  }
  if (!parts_.starts_at_zero && !Resolve(tree_.node(parts_.accumulator).children.back())) return false;
  found.kept = kept_;
  found.epilogue = statements_;
  found.indices = indices_;
  found.stored = parts_.stored;
  return true;
}

// What code names that is declared outside of it.
bool ConvolutionEpilogue::Resolve(int node) {
  for (int at = node; at < tree_.EndOf(node);) {
    if (std::find(parts_.stored.begin(), parts_.stored.end(), at) != parts_.stored.end()) {
      at = tree_.EndOf(at);
      continue;
    }
    std::vector<int> named = tree_.node(at).hidden;
    if (tree_.node(at).kind_name == "DeclRefExpr" && tree_.node(at).refers_to >= 0) named.push_back(tree_.node(at).refers_to);
    for (const int name : named) {
      const SyntaxNode& declared = tree_.node(name);
      const bool own =
          std::any_of(statements_.begin(), statements_.end(), [&](int statement) { return IsWithin(tree_, name, statement); });
      if (own || name == parts_.accumulator || declared.function < 0 || declared.kind_name == "FunctionDecl") continue;
      if (declared.kind_name == "ParmDecl") {
        if (written_.contains(name)) return Refuse(fmt::format("it changes {}, which its output needs", declared.name));
      } else if (declared.kind_name != "VarDecl" || !Keep(name)) {
        return why_.empty() ? Refuse(fmt::format("its output needs {}, which is not understood", declared.name)) : false;
      }
    }
    if (OperationAt(tree_, at)) {
      if (!ResolveOperation(at)) return false;
      at = tree_.EndOf(at);
      continue;
    }
    if (const int symbol = BuiltinAt(tree_, at); symbol != 0) {
      const auto role = RoleOf(symbol);
      if (!role) return Refuse(fmt::format("its output needs {}", tree_.Text(at)));
      indices_.emplace_back(at, *role);
      at = tree_.EndOf(at);
      continue;
    }
    ++at;
  }
  return true;
}

// What an operation names or, if that has no role, the whole of it: `blockIdx.y * 8 + threadIdx.y`.
bool ConvolutionEpilogue::ResolveOperation(int operation) {
  const auto kept = kept_;
  const auto known = known_;
  const auto indices = indices_;
  const auto& operands = tree_.node(operation).children;
  if (std::all_of(operands.begin(), operands.end(), [&](int operand) { return Resolve(operand); })) return true;
  const auto role = RoleOfExpression(operation);
  if (!role) return false;
  why_.clear();
  kept_ = kept, known_ = known, indices_ = indices;
  indices_.emplace_back(operation, *role);
  return true;
}

// Whether a variable is computed from parameters and constants alone.
bool ConvolutionEpilogue::IsOfSizes(int variable) const {
  const auto& children = tree_.node(variable).children;
  if (children.empty() || written_.contains(variable) || !IsPure(tree_, children.back()) || LoadsIn(tree_, children.back()))
    return false;
  for (const int node : Subtree(tree_, children.back())) {
    if (BuiltinAt(tree_, node) != 0) return false;
  }
  const auto named = NamedIn(tree_, children.back());
  return std::all_of(named.begin(), named.end(), [&](int name) {
    const SyntaxNode& used = tree_.node(name);
    if (used.kind_name == "ParmDecl") return !written_.contains(name);
    return used.function < 0 || (used.kind_name == "VarDecl" && IsOfSizes(name));
  });
}

std::optional<ConvolutionRole> ConvolutionEpilogue::RoleWith(const ObservedValue& value_in) const {
  for (const ConvolutionRole role : {ConvolutionRole::kImage, ConvolutionRole::kFilter, ConvolutionRole::kRow,
                                     ConvolutionRole::kColumn, ConvolutionRole::kPixel, ConvolutionRole::kPlane,
                                     ConvolutionRole::kPlanePixel, ConvolutionRole::kElement, ConvolutionRole::kDepth}) {
    const bool is = std::all_of(observed_.begin(), observed_.end(), [&](const ConvolutionObserved& one) {
      const bool has = role != ConvolutionRole::kDepth || one.shape.planes > 1;
      return has && value_in(one) == std::optional(RoleValue(role, one));
    });
    if (is) return role;
  }
  return std::nullopt;
}

std::optional<ConvolutionRole> ConvolutionEpilogue::RoleOf(int symbol) const {
  return RoleWith([&](const ConvolutionObserved& one) {
    const auto value = one.integers.find(symbol);
    return value != one.integers.end() ? std::optional(value->second) : std::nullopt;
  });
}

std::optional<ConvolutionRole> ConvolutionEpilogue::RoleOfExpression(int expression) const {
  return RoleWith([&](const ConvolutionObserved& one) { return ValueIn(tree_, expression, one); });
}

bool ConvolutionEpilogue::Keep(int variable) {
  if (!known_.insert(variable).second) return true;
  const SyntaxNode& declared = tree_.node(variable);
  std::optional<ConvolutionRole> role;
  if (parts_.variables.contains(variable) && !IsOfSizes(variable)) role = RoleOf(variable);
  if (!role) {
    const bool simple = declared.type.find('[') == std::string::npos && declared.type.find('&') == std::string::npos;
    if (!simple || declared.children.empty() || written_.contains(variable) || IsWithin(tree_, variable, parts_.loop) ||
        !IsPure(tree_, declared.children.back()))
      return Refuse(fmt::format("its output needs {}, which is not understood", declared.name));
    if (!Resolve(declared.children.back())) return false;
  }
  kept_.push_back({variable, role});
  return true;
}

}  // namespace evo
