#include "mutators/analysis/thread_runs/thread_code.h"

#include <algorithm>
#include <string>

#include "mutators/analysis/numbers/step_budget.h"
#include "mutators/analysis/source/affine_index.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/shared_array.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/analysis/thread_runs/thread_vectors.h"

namespace evo {
namespace {

using NodeExpression = ThreadNode::Expression;
using NodeStatement = ThreadNode::Statement;

// Reading code takes as long as so many steps for each node: a candidate for the formula of rows is a text that is parsed.
constexpr std::int64_t kStepsOfNode = 10;

NodeStatement StatementNamed(std::string_view kind) {
  if (kind == "CompoundStmt") return NodeStatement::kBlock;
  if (kind == "DeclStmt") return NodeStatement::kDeclarations;
  if (kind == "ReturnStmt") return NodeStatement::kReturn;
  if (kind == "IfStmt") return NodeStatement::kIf;
  if (kind == "ForStmt") return NodeStatement::kFor;
  if (kind == "WhileStmt") return NodeStatement::kWhile;
  if (kind == "DoStmt") return NodeStatement::kDo;
  if (kind == "BreakStmt") return NodeStatement::kBreak;
  if (kind == "ContinueStmt") return NodeStatement::kContinue;
  if (kind == "SwitchStmt") return NodeStatement::kSwitch;
  return kind == kPragmaKind || kind == "NullStmt" ? NodeStatement::kNothing : NodeStatement::kExpression;
}

}  // namespace

ThreadType ThreadTypeOf(std::string_view type) {
  const std::string plain = WithoutConst(std::string(type));
  if (plain == "__half" || plain == "__nv_bfloat16") return ThreadType::kShortReal;
  if (plain == "float" || plain == "double") return ThreadType::kReal;
  if (plain == "unsigned int") return ThreadType::kUnsigned;
  return IsArithmetic(plain) || plain == "bool" ? ThreadType::kInteger : ThreadType::kOther;
}

ThreadCode::ThreadCode(const SyntaxTree& tree)
    : tree_(tree), kinds_(tree), structs_(tree), nodes_(tree.nodes().size()), slots_(tree.nodes().size(), -1) {
  StepBudget::Spend(static_cast<std::int64_t>(nodes_.size()) * kStepsOfNode);
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const SyntaxNode& node = tree.nodes()[i];
    if (node.kind_name == "VarDecl" || node.kind_name == "ParmDecl") AddVariable(static_cast<int>(i));
    if (node.refers_to >= 0) AddVariable(node.refers_to);
  }
}

// Expressions with all that is in them, the inner ones first: what they are depends on those.
const ThreadNode& ThreadCode::Decided(int node) {
  const bool statement = StatementNamed(tree_.node(node).kind_name) != NodeStatement::kExpression;
  for (int at = statement ? node : tree_.EndOf(node) - 1; at >= node; --at) {
    ThreadNode& decided = nodes_[static_cast<std::size_t>(at)];
    if (!decided.decided) Decide(at, decided);
  }
  return nodes_[static_cast<std::size_t>(node)];
}

void ThreadCode::Decide(int node, ThreadNode& decided) {
  const SyntaxNode& code = tree_.node(node);
  decided.decided = true;
  decided.type = ThreadTypeOf(code.type);
  decided.real = decided.type == ThreadType::kReal || decided.type == ThreadType::kShortReal;
  const std::string_view pointed = PointedThreadType(code.type);
  decided.vector = ThreadVectorTypeOf(code.type).count > 0;
  decided.to_vectors = ThreadVectorTypeOf(pointed).count > 0;
  decided.bytes = ThreadBytesOf(pointed.empty() ? std::string_view(code.type) : pointed);
  decided.structure = structs_.NumberOf(code.type);
  if (decided.structure >= 0) {
    decided.to_vectors = code.type.find_first_of("*[") != std::string::npos;
    decided.vector = !decided.to_vectors;
    decided.bytes = ThreadStructs::kBytesOfPart * static_cast<int>(structs_.CountOf(decided.structure));
  }
  decided.statement = StatementNamed(code.kind_name);
  // A macro call, of which the tree has no parts.
  if (code.children.empty() && tree_.Text(node).starts_with("assert")) decided.statement = NodeStatement::kNothing;
  for (std::size_t i = 0; i < std::min(code.children.size(), decided.parts.size()); ++i) decided.parts[i] = code.children[i];
  if (decided.statement != NodeStatement::kExpression) return DecideStatement(node, decided);
  DecideExpression(node, decided);
  DecidePlace(node, decided);
  decided.plain = IsPlain(node, decided);
  const auto is_plain = [&](int part) { return part >= 0 && nodes_[static_cast<std::size_t>(part)].plain; };
  const bool element = decided.expression == NodeExpression::kElement && decided.place == ThreadNode::Place::kElement;
  // The name of an array in shared or constant memory is an address, and reads nothing.
  const bool address =
      decided.expression == NodeExpression::kVariable && variable(decided.variable).array &&
      (variable(decided.variable).shared || variable(decided.variable).constant || variable(decided.variable).device);
  const bool named = decided.expression == NodeExpression::kVariable && !address;
  decided.reads = named || (element && !decided.vector && is_plain(decided.parts[0]) && is_plain(decided.parts[1]));
}

bool ThreadCode::IsPlain(int node, const ThreadNode& decided) const {
  const auto is_plain = [&](int part) { return nodes_[static_cast<std::size_t>(part)].plain; };
  const auto& [first, second, third] = decided.parts;
  const std::size_t parts = tree_.node(node).children.size();
  switch (decided.expression) {
    case NodeExpression::kLiteral: {
      const ThreadConstant& constant = constants_[static_cast<std::size_t>(decided.detail)];
      return constant.plain || constant.is_name;
    }
    case NodeExpression::kVariable: {
      const ThreadType type = variable(decided.variable).type;
      return type != ThreadType::kReal && type != ThreadType::kShortReal;
    }
    case NodeExpression::kBuiltin:
      return true;
    case NodeExpression::kSame:
    case NodeExpression::kUnary:
      return is_plain(first);
    case NodeExpression::kCast:
      return !decided.real && tree_.node(node).type.find('*') == std::string::npos && is_plain(first);
    case NodeExpression::kAnd:
    case NodeExpression::kOr:
    case NodeExpression::kBinary:
    case NodeExpression::kRow:
      return parts == 2 && is_plain(first) && is_plain(second) &&
             (!decided.to_vectors || decided.expression == NodeExpression::kRow);
    case NodeExpression::kConditional:
      return parts == 3 && is_plain(first) && is_plain(second) && is_plain(third);
    case NodeExpression::kCall: {
      const ThreadCall& called = call(decided.detail);
      const bool extreme =
          called.callee.kind == ThreadCallee::Kind::kLargest || called.callee.kind == ThreadCallee::Kind::kSmallest;
      return !called.of_file && extreme && called.arguments.size() == 2 && is_plain(second) && is_plain(third);
    }
    default:
      return false;
  }
}

// Whether a node stands for its only child, as implicit calls of conversions do.
bool ThreadCode::SaysTheSame(int node) const {
  const auto& children = tree_.node(node).children;
  return children.size() == 1 && tree_.Text(children.front()) == tree_.Text(node);
}

void ThreadCode::DecideExpression(int node, ThreadNode& decided) {
  const SyntaxNode& code = tree_.node(node);
  const ExpressionKind kind = kinds_.KindOf(node);
  const bool named =
      kind == ExpressionKind::kName && code.refers_to >= 0 &&
      (tree_.node(code.refers_to).function >= 0 || variable(code.refers_to).constant || variable(code.refers_to).device);
  if (named) {
    decided.expression = NodeExpression::kVariable;
    decided.variable = code.refers_to;
    return;
  }
  if (code.kind_name == "InitListExpr" && decided.vector && decided.structure >= 0) {
    decided.expression = NodeExpression::kParts;
    return;
  }
  if (code.children.empty() || kind == ExpressionKind::kName) {
    decided.expression = NodeExpression::kLiteral;
    decided.detail = AddConstant(node);
    return;
  }
  switch (kind) {
    case ExpressionKind::kParentheses:
      decided.expression = NodeExpression::kSame;
      decided.parts = {code.children.back(), -1, -1};
      return;
    case ExpressionKind::kUnary:
      return DecideUnary(node, decided);
    case ExpressionKind::kBinary:
      return DecideBinary(node, decided);
    case ExpressionKind::kConditional:
      decided.expression = NodeExpression::kConditional;
      return;
    case ExpressionKind::kCast:
      decided.expression = NodeExpression::kCast;
      decided.parts = {code.children.back(), -1, -1};
      return;
    case ExpressionKind::kReinterpret:
      decided.expression = code.type.find('*') != std::string::npos ? NodeExpression::kCast : NodeExpression::kReinterpret;
      decided.parts = {code.children.back(), -1, -1};
      return;
    case ExpressionKind::kSubscript:
      return DecideSubscript(node, decided);
    case ExpressionKind::kCall:
      decided.expression = code.name == "operator=" ? NodeExpression::kAssignment : NodeExpression::kCall;
      decided.assigns_only = true;
      if (decided.expression == NodeExpression::kCall) decided.detail = AddCall(node);
      return;
    default:
      break;
  }
  if (SaysTheSame(node)) {
    decided.expression = NodeExpression::kSame;
  } else if (kind == ExpressionKind::kMember && kinds_.IsBuiltin(node)) {
    const std::string_view text = tree_.Text(node);
    decided.expression = NodeExpression::kBuiltin;
    decided.detail = BuiltinSymbol(text.substr(0, text.find('.')), static_cast<std::size_t>(text.back() - 'x'));
  } else if (kind == ExpressionKind::kMember && ThreadComponentOf(code.name) >= 0 &&
             ThreadVectorTypeOf(tree_.node(code.children.front()).type).count > ThreadComponentOf(code.name)) {
    decided.expression = NodeExpression::kComponent;
    decided.detail = ThreadComponentOf(code.name);
  } else if (const ThreadNode& of = nodes_[static_cast<std::size_t>(code.children.front())];
             kind == ExpressionKind::kMember && of.vector && of.structure >= 0 &&
             structs_.PartNamed(of.structure, code.name) >= 0) {
    decided.expression = NodeExpression::kComponent;
    decided.detail = structs_.PartNamed(of.structure, code.name);
  }
}

void ThreadCode::DecideUnary(int node, ThreadNode& decided) {
  const std::string_view spelled = kinds_.OperatorOf(node);
  const int operand = tree_.node(node).children.front();
  decided.expression = NodeExpression::kUnary;
  if (spelled == "++" || spelled == "--") {
    decided.expression = NodeExpression::kCount;
    decided.computed = IntegerOperator(spelled.substr(1));
    decided.behind = tree_.node(operand).range.begin <= tree_.node(node).range.begin;
  } else if (spelled == "*") {
    decided.expression = NodeExpression::kDereference;
  } else if (spelled == "&") {
    decided.expression = NodeExpression::kAddress;
  } else if (spelled.size() == 1) {
    decided.unary = spelled.front();
  }
}

void ThreadCode::DecideBinary(int node, ThreadNode& decided) {
  const std::string_view spelled = kinds_.OperatorOf(node);
  decided.expression = NodeExpression::kBinary;
  if (IsAssignment(tree_, node)) {
    decided.expression = NodeExpression::kAssignment;
    decided.assigns_only = spelled == "=";
    decided.computed = IntegerOperator(spelled.empty() ? spelled : spelled.substr(0, spelled.size() - 1));
  } else if (spelled == ",") {
    decided.expression = NodeExpression::kComma;
  } else if (spelled == "&&") {
    decided.expression = NodeExpression::kAnd;
  } else if (spelled == "||") {
    decided.expression = NodeExpression::kOr;
  } else {
    decided.computed = IntegerOperator(spelled);
  }
}

void ThreadCode::DecideSubscript(int node, ThreadNode& decided) {
  const std::string& type = tree_.node(node).type;
  decided.expression = type.ends_with("]") ? NodeExpression::kRow : NodeExpression::kElement;
  decided.stride = 1;
  for (const long long extent : ExtentsOf(type)) decided.stride *= extent;
  if (decided.expression == NodeExpression::kRow && decided.to_vectors)
    decided.stride *= decided.structure >= 0 ? static_cast<std::int64_t>(structs_.CountOf(decided.structure))
                                             : ThreadVectorTypeOf(PointedThreadType(type)).count;
  if (!decided.real) return;
  // The array of an element, which a run may not follow: at file scope, or of more dimensions.
  int array = node;
  while (tree_.node(array).kind_name == "ArraySubscriptExpr" && !tree_.node(array).children.empty())
    array = WithoutParentheses(tree_, tree_.node(array).children.front());
  const int named = NamedDeclaration(tree_, array);
  if (named >= 0 && tree_.node(named).kind_name == "VarDecl" && variable(named).array) decided.variable = named;
}

void ThreadCode::DecidePlace(int node, ThreadNode& decided) {
  const int bare = WithoutParentheses(tree_, node);
  const std::size_t parts = tree_.node(bare).children.size();
  const int named = NamedDeclaration(tree_, bare);
  decided.bare = bare;
  if (named >= 0 && (tree_.node(named).function >= 0 || (IsVariable(named) && variable(named).device))) {
    decided.place = ThreadNode::Place::kVariable;
    decided.variable = named;
  } else if (kinds_.KindOf(bare) == ExpressionKind::kSubscript && parts == 2) {
    decided.place = ThreadNode::Place::kElement;
  } else if (kinds_.OperatorOf(bare) == "*" && parts == 1) {
    decided.place = ThreadNode::Place::kDereference;
  } else if (const NodeExpression inner = nodes_[static_cast<std::size_t>(bare)].expression;
             inner == NodeExpression::kComponent || inner == NodeExpression::kReinterpret) {
    decided.place = inner == NodeExpression::kComponent ? ThreadNode::Place::kComponent : ThreadNode::Place::kReinterpret;
  }
}

void ThreadCode::DecideStatement(int node, ThreadNode& decided) {
  const auto& parts = tree_.node(node).children;
  ThreadLoop loop;
  if (decided.statement == NodeStatement::kFor) {
    // Without its first part: `for (; k < n; ++k)`.
    if (const auto whole = AsForLoop(tree_, node))
      loop = {whole->init, whole->condition, whole->increment, whole->body};
    else if (parts.size() == 3 && tree_.Text(node).substr(3, 4).find(';') != std::string_view::npos)
      loop = {-1, parts[0], parts[1], parts[2]};
  } else if (decided.statement == NodeStatement::kWhile && parts.size() == 2) {
    loop = {-1, parts[0], -1, parts[1]};
  } else if (decided.statement == NodeStatement::kDo && parts.size() == 2) {
    loop = {-1, parts[1], -1, parts[0]};
  } else {
    return;
  }
  if (loop.body < 0) return;
  decided.detail = static_cast<int>(loops_.size());
  loops_.push_back(loop);
}

}  // namespace evo
