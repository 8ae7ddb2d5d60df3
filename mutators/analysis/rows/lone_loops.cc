// The loops that threads share, what they combine, and what some of them do, in a kernel that becomes the work of single threads.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "kernel_templates/brought_parameters.h"
#include "mutators/analysis/rows/lone_kernel.h"
#include "mutators/analysis/source/counted_loop.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/shared_array.h"

namespace evo {
namespace {

// With one semicolon, or as it is with braces.
std::string LoneBody(std::string_view text) {
  while (!text.empty() && (text.back() == ';' || text.back() == ' ' || text.back() == '\n')) text.remove_suffix(1);
  return std::string(text) + (text.ends_with("}") ? "" : ";");
}

}  // namespace

bool LoneKernel::LoopOverRows(int statement, std::string& text) {
  const auto loop = WithCountedHeader(tree_, statement);
  const int bound = loop ? NamedDeclaration(tree_, loop->bound) : -1;
  std::size_t place = 0;
  for (const int child : tree_.node(kernel_).children) {
    if (child == bound) break;
    place += tree_.node(child).kind_name == "ParmDecl" ? 1 : 0;
  }
  int start = loop ? loop->start : -1;
  const int begin = loop ? NamedDeclaration(tree_, start) : -1;
  if (begin >= 0 && tree_.node(begin).kind_name == "VarDecl" && !tree_.node(begin).children.empty() &&
      !WrittenIn(tree_, kernel_).contains(begin))
    start = tree_.node(begin).children.back();
  const bool rows = loop && !state_.of_warps() && tree_.Text(start) == "blockIdx.x" && loop->step == "gridDim.x" && bound >= 0 &&
                    loop->comparison == "<" && tree_.node(bound).kind_name == "ParmDecl" && place < launch_.arguments.size() &&
                    launch_.grid.size() == 1 && !WrittenIn(tree_, kernel_).contains(bound) && IsLast(statement) && state_.AllOn();
  if (!rows) return NotUnderstood(statement);
  has_loop_ = true;
  const std::string& argument = launch_.arguments[place];
  const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  if (!std::all_of(argument.begin(), argument.end(), is_word)) return Refuse("how many rows there are is not known");
  const int body = loop->parts.body;
  for (const int at : Subtree(tree_, body)) {
    const std::string& kind = tree_.node(at).kind_name;
    if (kind == "ContinueStmt" || kind == "BreakStmt") return Refuse("a turn for a row ends early");
  }
  for (const int variable : WrittenIn(tree_, body)) {
    const bool own =
        IsWithin(tree_, variable, statement) || (tree_.node(variable).kind_name == "VarDecl" && IsShared(tree_, variable));
    if (!own) return Refuse(fmt::format("`{}` goes from row to row", tree_.node(variable).name));
  }
  std::string inner;
  if (!Statements(body, inner)) return false;
  const SyntaxNode& counter = tree_.node(loop->counter);
  text += fmt::format("const {0} {1} = {2};\nif ({1} < {3}) {{\n{4}}}\n", WithoutConst(counter.type), counter.name, state_.row(),
                      tree_.Text(loop->bound), inner);
  grid_ = argument;
  return true;
}

bool LoneKernel::SharedLoopAt(int statement, std::string& text) {
  const auto refuse = [&] {
    return Refuse(fmt::format("the threads share {} in a way that is not understood", Quoted(tree_, statement)));
  };
  const auto loop = AsCountedLoop(tree_, statement);
  if (!loop || !state_.AllOn() || threads_.IsOfThread(loop->bound)) return refuse();
  const int increment = WithoutParentheses(tree_, loop->parts.increment);
  const auto& sides = tree_.node(increment).children;
  if (sides.size() != 2) return refuse();
  // `row * n + threadIdx.x` begins with 0 as `threadIdx.x` does.
  int first = loop->start;
  while (tree_.Operator(first) == "+" && tree_.node(first).children.size() == 2) {
    const auto& terms = tree_.node(first).children;
    if (threads_.IsOfThread(terms[0]) == threads_.IsOfThread(terms[1])) break;
    first = WithoutParentheses(tree_, terms[threads_.IsOfThread(terms[0]) ? 0 : 1]);
  }
  has_loop_ = has_loop_ || state_.IsNumberOfThreads(sides[1]);
  const auto start = state_.StartOf(first);
  if (!start || !state_.IsNumberOfThreads(sides[1])) return refuse();
  const int body = loop->parts.body;
  const auto shared = AsSharedLoop(tree_, statement);
  if (threads_.IsOfThread(body) || threads_.WorkTogether(body)) return refuse();
  if (!shared || shared->running)
    return Refuse(fmt::format("the turns of the loop {} leave behind more than sums, extremes and elements of their own",
                              Quoted(tree_, statement)));
  for (const int at : Subtree(tree_, body)) {
    if (threads_.IsSharedUse(at) && WrittenIn(tree_, body).contains(tree_.node(at).refers_to)) return refuse();
  }
  if (std::string why; !state_.ReadsAlike(statement, &why)) return Refuse(why);
  const SyntaxNode& counter = tree_.node(loop->counter);
  std::string begin = std::to_string(static_cast<std::int64_t>(*start));
  if (first != loop->start) begin = TextWith(tree_, loop->start, {{first, begin}});
  if (first != loop->start && ContainsName(begin, "blockIdx")) return refuse();
  text += fmt::format("for ({0} {1} = {2}; {1} {3} {4}; ++{1}) {5}\n", WithoutConst(counter.type), counter.name, begin,
                      loop->comparison, Text(loop->bound), LoneBody(Text(body)));
  std::string why;
  return state_.SetTotals(*shared, why) || Refuse(why);
}

bool LoneKernel::ForSomeThreads(int statement, std::string& text) {
  const auto& parts = tree_.node(statement).children;
  if (parts.size() != 2) return Refuse(fmt::format("{} differs between threads", Quoted(tree_, statement)));
  std::vector<int> open{parts[0]};
  std::string conditions;
  std::size_t restricted = 0;
  while (!open.empty()) {
    const int condition = WithoutParentheses(tree_, open.back());
    open.pop_back();
    if (tree_.Operator(condition) == "&&") {
      const auto& sides = tree_.node(condition).children;
      open.insert(open.end(), sides.rbegin(), sides.rend());
    } else if (threads_.IsOfThread(condition)) {
      ++restricted;
      if (!state_.Restrict(condition, false)) return Refuse(state_.refusal());
    } else {
      std::string why;
      if (!state_.ReadsAlike(condition, &why)) return Refuse(why);
      conditions += fmt::format("{}{}", conditions.empty() ? "" : " && ", Parenthesised(Text(condition)));
    }
  }
  if (!conditions.empty() && (threads_.WorkTogether(parts[1]) || !WrittenIn(tree_, parts[1]).empty()))
    return NotUnderstood(statement);
  std::string inner;
  if (!Statements(parts[1], inner)) return false;
  if (!conditions.empty()) text += fmt::format("if ({}) ", conditions);
  text += "{\n" + inner + "}\n";
  for (std::size_t i = 0; i < restricted; ++i) state_.Restore();
  return true;
}

bool LoneKernel::IsLast(int statement) const {
  for (int at = statement; tree_.node(at).parent != kernel_; at = tree_.node(at).parent) {
    if (tree_.node(tree_.node(at).parent).children.back() != at) return false;
  }
  return true;
}

bool LoneKernel::UnderCondition(int statement, std::string& text) {
  const auto& parts = tree_.node(statement).children;
  std::string why;
  state_.TakeResults(statement, statement, text);
  if (parts.size() != 2 || threads_.IsOfThread(parts[0]) || !state_.ReadsAlike(parts[0], &why))
    return Refuse(why.empty() ? fmt::format("{} is not understood", Quoted(tree_, statement)) : why);
  // Where it is not true, threads keep what they have.
  if (!IsLast(statement)) return Refuse(fmt::format("more follows behind {}", Quoted(tree_, statement)));
  std::string inner;
  if (!Statements(parts[1], inner)) return false;
  text += fmt::format("if ({}) {{\n{}}}\n", Text(parts[0]), inner);
  return true;
}

}  // namespace evo
