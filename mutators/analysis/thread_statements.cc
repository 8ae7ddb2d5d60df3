#include "mutators/analysis/thread_statements.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "mutators/analysis/shared_array.h"
#include "mutators/analysis/source_query.h"

namespace evo {
namespace {

// Elements of a local array, and steps of a loop that does not end.
constexpr std::int64_t kMostLocalElements = 8192;
constexpr std::int64_t kMostTurns = 1 << 20;

}  // namespace

ThreadStatements::ThreadStatements(const SyntaxTree& tree, ThreadCode& code, ThreadSymbols& symbols, const ThreadSetting& setting)
    : tree_(tree),
      symbols_(symbols),
      setting_(setting),
      memory_(tree, symbols, setting, trace_, refusal_),
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

FormPointer ThreadStatements::SymbolOf(int declaration) const {
  return setting_.symbolic ? std::make_shared<const AffineForm>(AffineForm::Symbol(declaration)) : nullptr;
}

// Gives a parameter of the kernel its value, if the setting has one.
void ThreadStatements::Pass(int parameter) {
  const SyntaxNode& node = tree_.node(parameter);
  ThreadValue& value = memory_.Variable(parameter);
  if (node.type.find('*') != std::string::npos)
    value = ThreadValue::Pointer(parameter);
  else if (const auto integer = setting_.integers.find(parameter); integer != setting_.integers.end())
    value = ThreadValue::Integer(integer->second, SymbolOf(parameter));
  else if (const auto real = setting_.reals.find(parameter); real != setting_.reals.end())
    value = ThreadValue::Real(real->second, std::make_shared<const std::string>(node.name));
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
  const SyntaxNode& node = tree_.node(statement);
  const std::string& kind = node.kind_name;
  if (kind == "CompoundStmt") {
    for (const int child : node.children) {
      if (const Flow flow = Execute(child); flow != Flow::kOn) return flow;
    }
    return Flow::kOn;
  }
  if (kind == "DeclStmt") {
    for (const int variable : node.children) Declare(variable);
    return refusal_.given() ? Flow::kReturn : Flow::kOn;
  }
  if (kind == "ReturnStmt") {
    returned_ = node.children.empty() ? ThreadValue{} : expressions_.Evaluate(node.children.front());
    return Flow::kReturn;
  }
  if (kind == "IfStmt") return ExecuteIf(statement);
  if (kind == "ForStmt") {
    const auto loop = AsForLoop(tree_, statement);
    // Without its first part: `for (; k < n; ++k)`.
    if (!loop && node.children.size() == 3 && tree_.Text(statement).substr(3, 4).find(";") != std::string_view::npos)
      return ExecuteLoop(-1, node.children[0], node.children[1], node.children[2], false);
    if (!loop) return Refuse("a loop without one of its three parts");
    return ExecuteLoop(loop->init, loop->condition, loop->increment, loop->body, false);
  }
  if (kind == "WhileStmt" && node.children.size() == 2) return ExecuteLoop(-1, node.children[0], -1, node.children[1], false);
  if (kind == "DoStmt" && node.children.size() == 2) return ExecuteLoop(-1, node.children[1], -1, node.children[0], true);
  if (kind == "BreakStmt") return Flow::kBreak;
  if (kind == "ContinueStmt") return Flow::kContinue;
  if (kind == kPragmaKind || kind == "NullStmt") return Flow::kOn;
  expressions_.Evaluate(statement);
  return refusal_.given() ? Flow::kReturn : Flow::kOn;
}

ThreadStatements::Flow ThreadStatements::ExecuteIf(int statement) {
  const auto& parts = tree_.node(statement).children;
  if (parts.size() < 2 || parts.size() > 3) return Refuse("an `if` with a declaration");
  if (expressions_.IsTrue(parts[0])) return Execute(parts[1]);
  return parts.size() == 3 ? Execute(parts[2]) : Flow::kOn;
}

ThreadStatements::Flow ThreadStatements::ExecuteLoop(int init, int condition, int increment, int body, bool body_first) {
  if (init >= 0) Execute(init);
  for (std::int64_t turn = 0; !refusal_.given(); ++turn) {
    if (turn > kMostTurns) return Refuse("a loop that does not seem to end");
    if ((turn > 0 || !body_first) && !expressions_.IsTrue(condition)) break;
    const Flow flow = Execute(body);
    if (flow == Flow::kReturn) return flow;
    if (flow == Flow::kBreak) break;
    if (increment >= 0) expressions_.Evaluate(increment);
  }
  return refusal_.given() ? Flow::kReturn : Flow::kOn;
}

ThreadValue ThreadStatements::RunBody(int body) {
  returned_ = {};
  Execute(body);
  return std::exchange(returned_, {});
}

void ThreadStatements::Declare(int variable) {
  const SyntaxNode& declared = tree_.node(variable);
  if (declared.kind_name != "VarDecl") return;
  if (setting_.exchange != nullptr && IsShared(tree_, variable)) return;
  if (declared.type.ends_with("]")) return DeclareArray(variable);
  ThreadValue& value = memory_.Variable(variable);
  if (variable == symbols_.row()) {
    value = ThreadValue::Integer(setting_.row, SymbolOf(variable));
    if (setting_.flat_length && setting_.symbolic) {
      const AffineForm outer = AffineForm::Symbol(setting_.flat_outer).TimesForm(*setting_.flat_length);
      value.form = std::make_shared<const AffineForm>(outer.Plus(AffineForm::Symbol(variable)));
    }
    return;
  }
  value = {};
  const bool typed = !declared.children.empty() && tree_.node(declared.children.back()).kind_name != "TypeRef" &&
                     !tree_.node(declared.children.back()).kind_name.starts_with("attribute");
  if (!typed) return;
  if (declared.type.ends_with("&")) return refusal_.Add(fmt::format("the reference {}", Quoted(tree_, variable)));
  ThreadValue computed = expressions_.EvaluateAs(declared.type, declared.children.back());
  if (symbols_.block_constants().contains(variable)) {
    if (computed.kind == ThreadValue::Kind::kInteger && setting_.symbolic) computed.form = SymbolOf(variable);
    if (computed.kind == ThreadValue::Kind::kReal && computed.text)
      computed.text = std::make_shared<const std::string>(declared.name);
  }
  value = std::move(computed);
}

void ThreadStatements::DeclareArray(int variable) {
  const SyntaxNode& declared = tree_.node(variable);
  const auto extents = ExtentsOf(declared.type);
  std::int64_t count = extents.empty() ? -1 : 1;
  for (const long long extent : extents) count = extent > 0 && count <= kMostLocalElements ? count * extent : -1;
  if (count < 0 || count > kMostLocalElements || (setting_.addresses && extents.size() > 1)) {
    if (setting_.addresses) return;  // of more dimensions: a table, if it holds real numbers
    return refusal_.Add(fmt::format("the array {}", Quoted(tree_, variable)));
  }
  std::vector<ThreadValue>& elements = memory_.AddArray(variable, static_cast<std::size_t>(count));
  for (const int child : declared.children) {
    if (tree_.node(child).kind_name == "InitListExpr") Fill(elements, variable, child);
  }
}

// Of `float sums[4] = {0.0f}`: the values, and zeros after them.
void ThreadStatements::Fill(std::vector<ThreadValue>& elements, int variable, int list) {
  const std::string type = tree_.node(variable).type.substr(0, tree_.node(variable).type.find('['));
  std::size_t at = 0;
  for (const int child : tree_.node(list).children) {
    if (at < elements.size()) elements[at++] = expressions_.EvaluateAs(type, child);
  }
  for (; at < elements.size(); ++at) elements[at] = arithmetic_.Converted(ThreadValue::Integer(0), type);
}

}  // namespace evo
