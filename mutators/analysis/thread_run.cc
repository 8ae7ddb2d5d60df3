#include "mutators/analysis/thread_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "mutators/analysis/data_flow.h"
#include "mutators/analysis/source_query.h"

namespace evo {
namespace {

// Elements of a local array, and steps of a loop that does not end.
constexpr std::int64_t kMostLocalElements = 8192;
constexpr std::int64_t kMostTurns = 1 << 20;

}  // namespace

ThreadRun::ThreadRun(const MutationContext& context, int kernel, int row)
    : context_(context), tree_(context.tree), kernel_(kernel), row_(row), written_(WrittenIn(context.tree, kernel)) {
  operators_.reserve(tree_.nodes().size());
  for (std::size_t i = 0; i < tree_.nodes().size(); ++i) {
    operators_.push_back(tree_.Operator(static_cast<int>(i)));
    kinds_.push_back(KindOf(tree_.nodes()[i].kind_name));
  }
  FindSettled();
}

// A variable of the kernel, outside of loops, that only its initialiser writes, and which is computed from parameters, from
// blockIdx, gridDim and other such variables.
bool ThreadRun::CanSettle(int variable) const {
  const SyntaxNode& declared = tree_.node(variable);
  const std::string type = WithoutConst(declared.type);
  if (declared.kind_name != "VarDecl" || declared.children.empty() || variable == row_ || !IsArithmetic(type)) return false;
  if (written_.contains(variable) || IsMemoryName(tree_, variable)) return false;
  const int value = declared.children.back();
  if (!IsPure(tree_, value) || LoadsIn(tree_, value)) return false;
  for (int at = declared.parent; at != kernel_ && at >= 0; at = tree_.node(at).parent) {
    const std::string& kind = tree_.node(at).kind_name;
    if (kind == "ForStmt" || kind == "WhileStmt" || kind == "DoStmt") return false;
  }
  bool varies = false;  // a constant is no symbol
  for (const int node : Subtree(tree_, value)) {
    const SyntaxNode& name = tree_.node(node);
    if (name.kind_name != "DeclRefExpr") continue;
    if (name.refers_to < 0) {
      if (name.name == "threadIdx" || name.name == "blockDim") return false;
      varies |= name.name == "blockIdx" || name.name == "gridDim";
      continue;
    }
    const SyntaxNode& used = tree_.node(name.refers_to);
    if (used.kind_name == "FunctionDecl") return false;
    if (used.function < 0) continue;
    if (used.kind_name == "ParmDecl" ? written_.contains(name.refers_to) : !settled_.contains(name.refers_to)) return false;
    varies = true;
  }
  return varies;
}

void ThreadRun::FindSettled() {
  std::map<std::string, int> declared;
  for (const int node : Subtree(tree_, kernel_)) {
    if (tree_.node(node).kind_name == "VarDecl") ++declared[tree_.node(node).name];
  }
  for (const int node : Subtree(tree_, kernel_)) {
    if (CanSettle(node) && declared[tree_.node(node).name] == 1) settled_.insert(node);
  }
}

ThreadTrace ThreadRun::Run(const ThreadSetting& setting) {
  setting_ = setting;
  trace_ = {};
  variables_.assign(tree_.nodes().size(), {});
  arrays_.clear();
  depth_ = 0;
  steps_ = 0;
  for (const int child : tree_.node(kernel_).children) {
    const SyntaxNode& parameter = tree_.node(child);
    if (parameter.kind_name != "ParmDecl") continue;
    ThreadValue& value = variables_[static_cast<std::size_t>(child)];
    const auto form = setting.symbolic ? std::make_shared<const AffineForm>(AffineForm::Symbol(child)) : nullptr;
    if (parameter.type.find('*') != std::string::npos) {
      value.kind = ThreadValue::Kind::kPointer;
      value.memory = child;
    } else if (const auto integer = setting.integers.find(child); integer != setting.integers.end()) {
      value = Integer(integer->second, form);
    } else if (const auto real = setting.reals.find(child); real != setting.reals.end()) {
      value = Real(real->second, std::make_shared<const std::string>(parameter.name));
    }
  }
  Execute(tree_.node(kernel_).children.back());
  return trace_;
}

void ThreadRun::Note(ThreadTrace::Moment& moment) const {
  ++moment.times;
  for (const int variable : setting_.noted) {
    const ThreadValue& value = variables_[static_cast<std::size_t>(variable)];
    if (value.kind != ThreadValue::Kind::kNone) moment.values[variable] = value;
  }
  for (const auto& [parameter, elements] : trace_.reads) {
    auto& read = moment.reads[parameter];
    read.clear();
    for (const auto& [index, access] : elements) read.push_back(index);
  }
  moment.deciding = trace_.deciding;
  moment.rounded = trace_.rounded;
  moment.reals_compared = trace_.reals_compared;
}

ThreadRun::Flow ThreadRun::Execute(int statement) {
  if (statement != setting_.watched) return ExecuteStatement(statement);
  Note(trace_.before);
  const Flow flow = ExecuteStatement(statement);
  Note(trace_.after);
  return flow;
}

ThreadRun::Flow ThreadRun::ExecuteStatement(int statement) {
  if (Failed()) return Flow::kReturn;
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
    return Failed() ? Flow::kReturn : Flow::kOn;
  }
  if (kind == "ReturnStmt") {
    returned_ = node.children.empty() ? ThreadValue{} : Evaluate(node.children.front());
    return Flow::kReturn;
  }
  if (kind == "IfStmt") {
    if (node.children.size() < 2 || node.children.size() > 3) return Refuse("an `if` with a declaration"), Flow::kReturn;
    if (IsTrue(node.children[0])) return Execute(node.children[1]);
    return node.children.size() == 3 ? Execute(node.children[2]) : Flow::kOn;
  }
  if (kind == "ForStmt") {
    const auto loop = AsForLoop(tree_, statement);
    if (!loop) return Refuse("a loop without one of its three parts"), Flow::kReturn;
    return ExecuteLoop(loop->init, loop->condition, loop->increment, loop->body, false);
  }
  if (kind == "WhileStmt" && node.children.size() == 2) return ExecuteLoop(-1, node.children[0], -1, node.children[1], false);
  if (kind == "DoStmt" && node.children.size() == 2) return ExecuteLoop(-1, node.children[1], -1, node.children[0], true);
  if (kind == "BreakStmt") return Flow::kBreak;
  if (kind == "ContinueStmt") return Flow::kContinue;
  if (kind == kPragmaKind || kind == "NullStmt") return Flow::kOn;
  Evaluate(statement);
  return Failed() ? Flow::kReturn : Flow::kOn;
}

ThreadRun::Flow ThreadRun::ExecuteLoop(int init, int condition, int increment, int body, bool body_first) {
  if (init >= 0) Execute(init);
  for (std::int64_t turn = 0; !Failed(); ++turn) {
    if (turn > kMostTurns) return Refuse("a loop that does not seem to end"), Flow::kReturn;
    if ((turn > 0 || !body_first) && !IsTrue(condition)) break;
    const Flow flow = Execute(body);
    if (flow == Flow::kReturn) return flow;
    if (flow == Flow::kBreak) break;
    if (increment >= 0) Evaluate(increment);
  }
  return Failed() ? Flow::kReturn : Flow::kOn;
}

void ThreadRun::Declare(int variable) {
  const SyntaxNode& declared = tree_.node(variable);
  if (declared.kind_name != "VarDecl") return;
  if (declared.type.ends_with("]")) return DeclareArray(variable);
  ThreadValue& value = variables_[static_cast<std::size_t>(variable)];
  if (variable == row_) {
    value = Integer(setting_.row, setting_.symbolic ? std::make_shared<const AffineForm>(AffineForm::Symbol(row_)) : nullptr);
    return;
  }
  value = {};
  const bool typed = !declared.children.empty() && tree_.node(declared.children.back()).kind_name != "TypeRef" &&
                     !tree_.node(declared.children.back()).kind_name.starts_with("attribute");
  if (!typed) return;
  if (declared.type.ends_with("&")) {
    Refuse(fmt::format("the reference {}", Quoted(variable)));
    return;
  }
  ThreadValue computed = Converted(Evaluate(declared.children.back()), declared.type);
  if (settled_.contains(variable)) {
    if (computed.kind == ThreadValue::Kind::kInteger && setting_.symbolic)
      computed.form = std::make_shared<const AffineForm>(AffineForm::Symbol(variable));
    if (computed.kind == ThreadValue::Kind::kReal && computed.text)
      computed.text = std::make_shared<const std::string>(declared.name);
  }
  variables_[static_cast<std::size_t>(variable)] = std::move(computed);
}

void ThreadRun::DeclareArray(int variable) {
  const SyntaxNode& declared = tree_.node(variable);
  const std::size_t open = declared.type.find('[');
  std::int64_t count = 0;
  const char* const end = declared.type.data() + declared.type.size() - 1;
  const auto [stop, error] = std::from_chars(declared.type.data() + open + 1, end, count);
  if (error != std::errc{} || stop != end || count > kMostLocalElements) {
    if (setting_.addresses) return;  // of more dimensions: a table, if it holds real numbers
    Refuse(fmt::format("the array {}", Quoted(variable)));
    return;
  }
  arrays_[variable].assign(static_cast<std::size_t>(count), {});
  ThreadValue& pointer = variables_[static_cast<std::size_t>(variable)];
  pointer = {};
  pointer.kind = ThreadValue::Kind::kPointer;
  pointer.memory = variable;
  for (const int child : declared.children) {
    if (tree_.node(child).kind_name == "InitListExpr") Fill(variable, child);
  }
}

// Of `float sums[4] = {0.0f}`: the values, and zeros after them.
void ThreadRun::Fill(int variable, int list) {
  auto& elements = arrays_[variable];
  const std::string type = tree_.node(variable).type.substr(0, tree_.node(variable).type.find('['));
  std::size_t at = 0;
  for (const int child : tree_.node(list).children) {
    if (at < elements.size()) elements[at++] = Converted(Evaluate(child), type);
  }
  for (; at < elements.size(); ++at) elements[at] = Converted(Integer(0), type);
}

bool ThreadRun::IsTrue(int expression) {
  const ThreadValue value = Evaluate(expression);
  if (value.kind == ThreadValue::Kind::kReal) return value.real != 0;
  if (value.form) NoteCompared(value);
  return value.integer != 0;
}

bool ThreadRun::OfThread(int symbol) const {
  if (symbol == row_) return true;
  if (symbol >= kFirstOpaque) return opaque_[static_cast<std::size_t>(symbol - kFirstOpaque)].of_thread;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (symbol == BuiltinSymbol("threadIdx", axis) || symbol == BuiltinSymbol("blockDim", axis)) return true;
  }
  return false;
}

bool ThreadRun::IsUniform(const AffineForm& form) const {
  const auto symbols = form.Symbols();
  return std::none_of(symbols.begin(), symbols.end(), [&](int symbol) { return OfThread(symbol); });
}

std::set<int> ThreadRun::PlainSymbols(const AffineForm& form) const {
  std::set<int> plain;
  for (const int symbol : form.Symbols()) {
    if (symbol < kFirstOpaque)
      plain.insert(symbol);
    else
      plain.merge(std::set<int>(opaque_[static_cast<std::size_t>(symbol - kFirstOpaque)].symbols));
  }
  return plain;
}

std::string ThreadRun::TextOf(const AffineForm& form, bool wide) const {
  const auto name = [&](int symbol) -> std::string {
    if (symbol >= kFirstOpaque) return opaque_[static_cast<std::size_t>(symbol - kFirstOpaque)].text;
    if (symbol >= 0) return tree_.node(symbol).name;
    for (const char* builtin : {"threadIdx", "blockIdx", "blockDim", "gridDim"}) {
      for (std::size_t axis = 0; axis < 3; ++axis) {
        if (symbol == BuiltinSymbol(builtin, axis)) return fmt::format("{}.{}", builtin, "xyz"[axis]);
      }
    }
    return "";
  };
  std::string text;
  for (const auto& [product, count] : form.terms()) {
    std::vector<std::string> factors;
    for (const int symbol : product) factors.push_back(name(symbol));
    const std::int64_t size = count < 0 ? -count : count;
    if (size != 1 || factors.empty()) factors.push_back(std::to_string(size));
    if (wide && factors.size() > 1) factors.front() = fmt::format("(long long){}", factors.front());
    const char* const sign = text.empty() ? (count < 0 ? "-" : "") : (count < 0 ? " - " : " + ");
    text += fmt::format("{}{}", sign, fmt::join(factors, " * "));
  }
  return text.empty() ? "0" : text;
}

ThreadValue ThreadRun::Integer(std::int64_t value, Form form) {
  ThreadValue result;
  result.kind = ThreadValue::Kind::kInteger;
  result.integer = value;
  result.form = std::move(form);
  return result;
}

ThreadValue ThreadRun::Real(double value, std::shared_ptr<const std::string> text) {
  ThreadValue result;
  result.kind = ThreadValue::Kind::kReal;
  result.real = value;
  result.text = std::move(text);
  return result;
}

ThreadValue ThreadRun::Refuse(std::string why) {
  if (trace_.refusal.empty()) trace_.refusal = std::move(why);
  return {};
}

std::string ThreadRun::Quoted(int node) const {
  const std::string_view text = tree_.Text(node);
  return fmt::format("`{}`", text.substr(0, text.find('\n')));
}

}  // namespace evo
