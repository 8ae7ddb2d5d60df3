#include "mutators/analysis/thread_runs/thread_symbols.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/source_query.h"

namespace evo {

ThreadSymbols::ThreadSymbols(const SyntaxTree& tree, int kernel, int row)
    : tree_(tree), kernel_(kernel), row_(row), written_(WrittenIn(tree, kernel)) {
  FindBlockConstants();
}

void ThreadSymbols::FindBlockConstants() {
  std::map<std::string, int> declared;
  for (const int node : Subtree(tree_, kernel_)) {
    if (tree_.node(node).kind_name == "VarDecl") ++declared[tree_.node(node).name];
  }
  for (const int node : Subtree(tree_, kernel_)) {
    if (IsBlockConstant(node) && declared[tree_.node(node).name] == 1) block_constants_.insert(node);
  }
}

// A variable of the kernel, outside of loops, that only its initialiser writes, and which is computed from parameters, from
// blockIdx, gridDim and other such variables.
bool ThreadSymbols::IsBlockConstant(int variable) const {
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
    if (name.kind_name == "MemberRefExpr" && row_ < -1 && tree_.Text(node) == NameOf(row_)) return false;
    if (name.kind_name != "DeclRefExpr") continue;
    if (!IsConstantName(node)) return false;
    varies |= name.refers_to < 0 ? name.name == "blockIdx" || name.name == "gridDim" : tree_.node(name.refers_to).function >= 0;
  }
  return varies;
}

// Whether a name is of a constant, or of what is the same for all threads of a block and does not change.
bool ThreadSymbols::IsConstantName(int name) const {
  const int declaration = tree_.node(name).refers_to;
  if (declaration < 0) return tree_.node(name).name != "threadIdx" && tree_.node(name).name != "blockDim";
  const SyntaxNode& used = tree_.node(declaration);
  if (used.kind_name == "FunctionDecl") return false;
  if (used.function < 0) return true;
  return used.kind_name == "ParmDecl" ? !written_.contains(declaration) : block_constants_.contains(declaration);
}

const ThreadSymbols::Result* ThreadSymbols::AsResult(int symbol) const {
  return symbol < kFirstResult ? nullptr : &results_[static_cast<std::size_t>(symbol - kFirstResult)];
}

bool ThreadSymbols::OfThread(int symbol) const {
  if (symbol == row_) return true;
  if (const Result* const result = AsResult(symbol)) return result->of_thread;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (symbol == BuiltinSymbol("threadIdx", axis) || symbol == BuiltinSymbol("blockDim", axis)) return true;
  }
  return false;
}

bool ThreadSymbols::IsUniform(const AffineForm& form) const {
  const auto symbols = form.Symbols();
  return std::none_of(symbols.begin(), symbols.end(), [&](int symbol) { return OfThread(symbol); });
}

std::set<int> ThreadSymbols::PlainSymbols(const AffineForm& form) const {
  std::set<int> plain;
  for (const int symbol : form.Symbols()) {
    if (const Result* const result = AsResult(symbol))
      plain.insert(result->symbols.begin(), result->symbols.end());
    else
      plain.insert(symbol);
  }
  return plain;
}

FormPointer ThreadSymbols::ResultOf(const std::string& text, const AffineForm& left, const AffineForm& right) {
  const auto [known, fresh] = numbers_.try_emplace(text, static_cast<int>(results_.size()));
  if (fresh) {
    std::set<int> symbols = PlainSymbols(left);
    symbols.merge(PlainSymbols(right));
    results_.push_back({text, !IsUniform(left) || !IsUniform(right), std::move(symbols)});
  }
  return SharedForm(AffineForm::Symbol(kFirstResult + known->second));
}

FormPointer ThreadSymbols::LoadedAt(const std::string& buffer, const AffineForm& index) {
  const std::string text = fmt::format("{}[{}]", buffer, TextOf(index));
  const auto [known, fresh] = numbers_.try_emplace(text, static_cast<int>(results_.size()));
  const int symbol = kFirstResult + known->second;
  if (fresh) results_.push_back({text, !IsUniform(index), {symbol}});
  return SharedForm(AffineForm::Symbol(symbol));
}

std::string ThreadSymbols::NameOf(int symbol) const {
  if (const Result* const result = AsResult(symbol)) return result->text;
  if (symbol >= 0) return tree_.node(symbol).name;
  for (const char* builtin : {"threadIdx", "blockIdx", "blockDim", "gridDim"}) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      if (symbol == BuiltinSymbol(builtin, axis)) return fmt::format("{}.{}", builtin, "xyz"[axis]);
    }
  }
  return "";
}

std::string ThreadSymbols::TextOf(const AffineForm& form, bool wide) const {
  std::string text;
  for (const auto& [product, count] : form.terms()) {
    std::vector<std::string> factors;
    for (const int symbol : product) factors.push_back(NameOf(symbol));
    const std::int64_t size = count < 0 ? -count : count;
    if (size != 1 || factors.empty()) factors.push_back(std::to_string(size));
    if (wide && factors.size() > 1) factors.front() = fmt::format("(long long){}", factors.front());
    const char* const sign = text.empty() ? (count < 0 ? "-" : "") : (count < 0 ? " - " : " + ");
    text += fmt::format("{}{}", sign, fmt::join(factors, " * "));
  }
  return text.empty() ? "0" : text;
}

}  // namespace evo
