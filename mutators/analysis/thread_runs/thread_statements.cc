#include "mutators/analysis/thread_runs/thread_statements.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "mutators/analysis/source/shared_array.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/analysis/thread_runs/thread_vectors.h"

namespace evo {
namespace {

// Elements of a local array, and steps of a loop that does not end: each thread of a block has them.
constexpr std::int64_t kMostLocalElements = 8192;
constexpr std::int64_t kMostTurnsOfLoop = 1 << 20, kMostTurnsTogether = 1 << 17;

// The type of an array's elements, or of a vector's numbers.
std::string NumberTypeOf(const std::string& type) {
  const std::string element = WithoutConst(type.substr(0, type.find_last_not_of(' ', type.find('[') - 1) + 1));
  const ThreadVectorType vector = ThreadVectorTypeOf(element);
  return vector.count > 0 ? std::string(vector.number) : element;
}

// What a declaration is in forms; null without them.
FormPointer SymbolIn(const ThreadSetting& setting, int declaration) {
  return setting.symbolic ? SharedForm(AffineForm::Symbol(declaration)) : nullptr;
}

}  // namespace

ThreadStatements::ThreadStatements(const SyntaxTree& tree, ThreadCode& code, ThreadSymbols& symbols, const ThreadSetting& setting)
    : tree_(tree),
      code_(code),
      symbols_(symbols),
      setting_(setting),
      memory_(tree, code, symbols, setting, trace_, refusal_),
      arithmetic_(symbols, setting, trace_),
      expressions_(tree, code, setting, arithmetic_, memory_, *this, trace_, refusal_) {}

ThreadTrace ThreadStatements::Run(int kernel) {
  for (const int child : tree_.node(kernel).children) {
    if (tree_.node(child).kind_name == "ParmDecl") Pass(child);
  }
  Execute(tree_.node(kernel).children.back());
  memory_.CheckBuffers();
  trace_.refusal = refusal_.why();
  return std::move(trace_);
}

// Gives a parameter of the kernel its value, if the setting has one.
void ThreadStatements::Pass(int parameter) {
  const SyntaxNode& node = tree_.node(parameter);
  ThreadValue& value = memory_.Variable(parameter);
  const auto same = setting_.same.find(parameter);
  if (node.type.find('*') != std::string::npos)
    value = ThreadValue::Pointer(same == setting_.same.end() ? parameter : same->second);
  else if (const auto integer = setting_.integers.find(parameter); integer != setting_.integers.end())
    value = ThreadValue::Integer(integer->second, SymbolIn(setting_, parameter));
  else if (const auto real = setting_.reals.find(parameter); real != setting_.reals.end())
    value = ThreadValue::Real(real->second, SharedText(node.name));
  if (setting_.formulas && value.kind == ThreadValue::Kind::kReal)
    value.formula = FormulaLeaf(WithoutConst(node.type), node.name, false);
}

ThreadStatements::Flow ThreadStatements::Refuse(std::string why) {
  refusal_.Add(std::move(why));
  return Flow::kReturn;
}

void ThreadStatements::Note(ThreadTrace::Moment& moment) const {
  ++moment.times;
  for (const int variable : setting_.noted) {
    const ThreadValue& value = memory_.Variable(variable);
    if (value.kind != ThreadValue::Kind::kNone) moment.values[variable] = value;
  }
  for (const auto& [parameter, elements] : trace_.reads) {
    auto& read = moment.reads[parameter];
    read.clear();
    for (const auto& [index, access] : elements) read.push_back(index);
  }
  moment.history = trace_.history.size();
  moment.deciding = trace_.deciding;
  moment.rounded = trace_.rounded;
  moment.reals_compared = trace_.reals_compared;
}

ThreadStatements::Flow ThreadStatements::Execute(int statement) {
  if (!setting_.effects.empty() && setting_.effects.contains(statement)) {
    // Of a call, what it is passed.
    ++trace_.effects;
    for (const int part : tree_.node(statement).children) {
      const std::string& type = tree_.node(part).type;
      if (tree_.node(statement).kind_name == "CallExpr" && type.find_first_of("*(") == std::string::npos)
        expressions_.Evaluate(part);
    }
    return refusal_.given() ? Flow::kReturn : Flow::kOn;
  }
  if (statement != setting_.watched) return ExecuteStatement(statement);
  Note(trace_.before);
  const Flow flow = ExecuteStatement(statement);
  Note(trace_.after);
  return setting_.stops ? Flow::kReturn : flow;
}

ThreadStatements::Flow ThreadStatements::ExecuteStatement(int statement) {
  if (refusal_.given()) return Flow::kReturn;
  const Nesting level(refusal_);
  if (level.TooDeep()) return Refuse(fmt::format("{} is nested too deeply", Quoted(tree_, statement)));
  using enum ThreadNode::Statement;
  const ThreadNode& node = code_.At(statement);
  const auto& parts = tree_.node(statement).children;
  switch (node.statement) {
    case kBlock:
      for (const int child : parts) {
        if (const Flow flow = Execute(child); flow != Flow::kOn) return flow;
      }
      return Flow::kOn;
    case kDeclarations:
      for (const int variable : parts) Declare(variable);
      return refusal_.given() ? Flow::kReturn : Flow::kOn;
    case kReturn:
      returned_ = parts.empty() ? ThreadValue{} : expressions_.Evaluate(parts.front());
      if (setting_.formulas && !parts.empty() && returned_.kind == ThreadValue::Kind::kInteger)
        returned_.formula = expressions_.formulas().Of(returned_, parts.front());
      return Flow::kReturn;
    case kIf:
      return ExecuteIf(statement);
    case kFor:
      return node.detail >= 0 ? ExecuteLoop(code_.loop(node.detail), false) : Refuse("a loop without one of its three parts");
    case kWhile:
    case kDo:
      if (node.detail >= 0) return ExecuteLoop(code_.loop(node.detail), node.statement == kDo);
      break;
    case kBreak:
      return Flow::kBreak;
    case kContinue:
      return Flow::kContinue;
    case kSwitch:
      return ExecuteSwitch(statement);
    case kNothing:
      return Flow::kOn;
    case kExpression:
      break;
  }
  expressions_.Perform(statement);
  return refusal_.given() ? Flow::kReturn : Flow::kOn;
}

ThreadStatements::Flow ThreadStatements::ExecuteIf(int statement) {
  const auto& parts = tree_.node(statement).children;
  if (parts.size() < 2 || parts.size() > 3) return Refuse("an `if` with a declaration");
  if (setting_.formulas) {
    const ThreadValue condition = expressions_.Evaluate(parts[0]);
    if (refusal_.given()) return Flow::kReturn;
    if (ThreadFormulas::IsOpen(condition)) return ExecuteBoth(statement, condition);
    if (expressions_.IsTrue(condition)) return Execute(parts[1]);
  } else if (setting_.choices.contains(statement)) {
    const std::set<int> deciding = trace_.deciding;
    const bool holds = expressions_.IsTrue(parts[0]);
    trace_.deciding = deciding;
    if (holds) return Execute(parts[1]);
  } else if (expressions_.IsTrue(parts[0])) {
    return Execute(parts[1]);
  }
  return parts.size() == 3 ? Execute(parts[2]) : Flow::kOn;
}

ThreadStatements::Flow ThreadStatements::ExecuteSwitch(int statement) {
  const auto& parts = tree_.node(statement).children;
  if (parts.size() != 2 || tree_.node(parts[1]).kind_name != "CompoundStmt") return Refuse("a `switch` with a declaration");
  const ThreadValue value = expressions_.Evaluate(parts[0]);
  std::vector<int> statements;
  std::optional<std::size_t> begin, otherwise;
  for (int inner : tree_.node(parts[1]).children) {
    for (; tree_.node(inner).kind_name == "CaseStmt" || tree_.node(inner).kind_name == "DefaultStmt";
         inner = tree_.node(inner).children.back()) {
      if (tree_.node(inner).kind_name == "DefaultStmt") {
        otherwise = statements.size();
        continue;
      }
      const ThreadValue same =
          arithmetic_.Combined(IntegerOperator("=="), value, expressions_.Evaluate(tree_.node(inner).children.front()));
      if (same.kind != ThreadValue::Kind::kInteger) return Refuse("a `switch` over what is no integer");
      if (same.integer != 0 && !begin) begin = statements.size();
    }
    statements.push_back(inner);
  }
  if (!begin) begin = otherwise;
  for (std::size_t i = begin.value_or(statements.size()); i < statements.size(); ++i) {
    const Flow flow = Execute(statements[i]);
    if (flow != Flow::kOn) return flow == Flow::kBreak ? Flow::kOn : flow;
  }
  return refusal_.given() ? Flow::kReturn : Flow::kOn;
}

ThreadStatements::Flow ThreadStatements::ExecuteLoop(ThreadLoop loop, bool body_first) {
  if (loop.init >= 0) Execute(loop.init);
  const std::int64_t most = setting_.exchange == nullptr ? kMostTurnsOfLoop : kMostTurnsTogether;
  for (std::int64_t turn = 0; !refusal_.given(); ++turn) {
    if (turn > most) return Refuse("a loop that does not seem to end");
    if ((turn > 0 || !body_first) && !expressions_.IsTrue(loop.condition)) break;
    ++trace_.turns;
    const Flow flow = Execute(loop.body);
    if (flow == Flow::kReturn) return flow;
    if (flow == Flow::kBreak) break;
    if (loop.increment >= 0) expressions_.Perform(loop.increment);
  }
  return refusal_.given() ? Flow::kReturn : Flow::kOn;
}

void ThreadStatements::Declare(int node) {
  if (!code_.IsVariable(node) || !code_.variable(node).declared) return;
  const ThreadVariable& variable = code_.variable(node);
  if (setting_.exchange != nullptr && variable.shared) return;
  if (variable.array) return DeclareArray(node);
  if (node == symbols_.row()) return DeclareRow(node);
  memory_.Variable(node) = {};
  if (variable.initialiser < 0) return;
  if (variable.reference) {
    ThreadValue array = tree_.node(node).type.ends_with("]") ? expressions_.Evaluate(variable.initialiser) : ThreadValue{};
    if (array.kind != ThreadValue::Kind::kPointer) return refusal_.Add(fmt::format("the reference {}", Quoted(tree_, node)));
    memory_.Variable(node) = std::move(array);
    return;
  }
  if (variable.list >= 0 && variable.list == variable.initialiser) return DeclareList(node);
  ThreadValue computed = expressions_.EvaluateAs(variable.type, variable.initialiser, tree_.node(node).type);
  if ((computed.form || computed.text || setting_.symbolic) && symbols_.block_constants().contains(node)) {
    if (computed.kind == ThreadValue::Kind::kInteger && setting_.symbolic) computed.form = SymbolIn(setting_, node);
    if (computed.kind == ThreadValue::Kind::kReal && computed.text) computed.text = SharedText(tree_.node(node).name);
  }
  memory_.Variable(node) = std::move(computed);
}

// `float sum{}`, `float4 sums = {a, b, c, d}`.
void ThreadStatements::DeclareList(int node) {
  const ThreadVariable& variable = code_.variable(node);
  const std::string& type = tree_.node(node).type;
  if (variable.structure >= 0) {
    memory_.Variable(node) = expressions_.Evaluate(variable.list);
    return;
  }
  std::vector<ThreadValue> parts(static_cast<std::size_t>(std::max(1, variable.components)));
  if (tree_.node(variable.list).children.size() > parts.size() ||
      (variable.components == 0 && variable.type == ThreadType::kOther))
    return refusal_.Add(fmt::format("{}, which is not understood", Quoted(tree_, node)));
  Fill(parts, variable.components > 0 ? ThreadTypeOf(ThreadVectorTypeOf(type).number) : variable.type, variable.list);
  memory_.Variable(node) = variable.components > 0 ? ThreadValue::Vector(std::move(parts)) : parts.front();
}

void ThreadStatements::DeclareRow(int variable) {
  ThreadValue value = ThreadValue::Integer(setting_.row, SymbolIn(setting_, variable));
  if (setting_.flat_length && setting_.symbolic) {
    const AffineForm outer = AffineForm::Symbol(setting_.flat_outer).TimesForm(*setting_.flat_length);
    value.form = SharedForm(outer.Plus(AffineForm::Symbol(variable)));
  }
  memory_.Variable(variable) = std::move(value);
}

void ThreadStatements::DeclareArray(int node) {
  const ThreadVariable& variable = code_.variable(node);
  std::int64_t count = variable.extents.empty() ? -1 : 1;
  for (const long long extent : variable.extents) count = extent > 0 && count <= kMostLocalElements ? count * extent : -1;
  if (count < 0 || count > kMostLocalElements || (setting_.addresses && variable.extents.size() > 1 && !variable.integers)) {
    if (setting_.addresses) return;  // of more dimensions: a table, if it holds real numbers
    return refusal_.Add(fmt::format("the array {}", Quoted(tree_, node)));
  }
  if (!setting_.addresses) count *= std::max(1, variable.components);
  std::vector<ThreadValue>& elements = memory_.AddArray(node, static_cast<std::size_t>(count));
  if (variable.list >= 0 && variable.structure >= 0) return refusal_.Add(fmt::format("the array {}", Quoted(tree_, node)));
  if (variable.list >= 0) Fill(elements, variable.type, variable.list);
}

// Of `float sums[4] = {0.0f}`: the values, and zeros after them.
void ThreadStatements::Fill(std::vector<ThreadValue>& elements, ThreadType type, int list) {
  std::size_t at = 0;
  const auto& children = tree_.node(list).children;
  // Of an array of rows, as many of the elements for each, given or not.
  const bool of_rows =
      std::any_of(children.begin(), children.end(), [&](int child) { return tree_.node(child).kind_name == "InitListExpr"; });
  const std::vector<long long> extents = ExtentsOf(tree_.node(list).type);
  if (of_rows && !extents.empty() && extents.front() > 0) {
    const std::size_t each = elements.size() / static_cast<std::size_t>(extents.front());
    for (const int child : children) {
      if (tree_.node(child).kind_name != "InitListExpr" || at + each > elements.size())
        return refusal_.Add(fmt::format("{}, which is not understood", Quoted(tree_, list)));
      std::vector<ThreadValue> row(each);
      Fill(row, type, child);
      std::move(row.begin(), row.end(), elements.begin() + static_cast<std::ptrdiff_t>(at));
      at += each;
    }
  } else {
    for (const int child : children) {
      if (at < elements.size()) elements[at++] = expressions_.EvaluateAs(type, child, NumberTypeOf(tree_.node(list).type));
    }
  }
  if (at == elements.size()) return;
  ThreadValue zero = arithmetic_.Converted(ThreadValue::Integer(0), type);
  if (setting_.formulas && zero.kind == ThreadValue::Kind::kReal)
    zero.formula = FormulaCast(FormulaInteger("int", 0), NumberTypeOf(tree_.node(list).type));
  for (; at < elements.size(); ++at) elements[at] = zero;
}

}  // namespace evo
