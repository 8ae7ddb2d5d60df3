#include "import/turn_taking.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "import/element_type.h"
#include "import/host_statements.h"

namespace evo {
namespace {

std::optional<std::int64_t> WholeNumber(const HostExpression& expression) {
  const auto value = ValueOf(expression, {});
  return value && !value->is_real ? std::optional(value->integer) : std::nullopt;
}

class TurnReader {
 public:
  TurnReader(const SourceProgram& program, const HostCalls& calls) : program_(program), calls_(calls) {}

  std::optional<TurnTaking> Read(const HostLoop& loop) const {
    for (const auto& [first, end] : StatementsOf(loop.body)) {
      if (Token(first) != "if" || Token(first + 1) != "(") continue;
      TurnTaking turn;
      turn.loop = &loop;
      turn.first = first;
      turn.end = end;
      const std::size_t yes = program_.AfterBracket(first + 1), yes_end = EndOfStatement(program_, yes);
      if (Token(yes_end) != "else") continue;
      turn.yes = RangeOfTokens(program_, yes, yes_end);
      turn.no = RangeOfTokens(program_, yes_end + 1, end);
      turn.if_so = OnlyLaunchIn(turn.yes);
      turn.if_not = OnlyLaunchIn(turn.no);
      const bool alone = std::count_if(calls_.launches().begin(), calls_.launches().end(),
                                       [&](const HostLaunch& launch) { return loop.body.Contains(launch.range); }) == 2;
      if (turn.if_so == nullptr || turn.if_not == nullptr || !alone || !DifferInOrder(turn)) continue;
      const auto tokens = program_.Tokens(RangeOfTokens(program_, first + 2, yes - 1));
      if (Alternates(tokens, turn)) return turn;
    }
    return std::nullopt;
  }

 private:
  std::string_view Token(std::size_t at) const { return program_.Token(at); }

  // The statements of a block, or the statement itself: first and last tokens.
  std::vector<std::pair<std::size_t, std::size_t>> StatementsOf(const SourceRange& range) const {
    std::size_t at = program_.TokenAt(range.begin), end = program_.TokenAt(range.end);
    const bool block = Token(at) == "{" && program_.AfterBracket(at) == end;
    if (block) ++at, --end;
    std::vector<std::pair<std::size_t, std::size_t>> statements;
    while (at < end) {
      const std::size_t next = EndOfStatement(program_, at);
      statements.emplace_back(at, next);
      at = next;
    }
    return statements;
  }

  const HostLaunch* OnlyLaunchIn(const SourceRange& range) const {
    const HostLaunch* found = nullptr;
    for (const HostLaunch& launch : calls_.launches()) {
      if (!range.Contains(launch.range)) continue;
      if (found != nullptr) return nullptr;
      found = &launch;
    }
    return found;
  }

  bool HasSame(const std::vector<SourceRange>& some, const std::vector<SourceRange>& others) const {
    const auto same = [&](const SourceRange& a, const SourceRange& b) { return program_.Text(a) == program_.Text(b); };
    return some.size() == others.size() && std::equal(some.begin(), some.end(), others.begin(), same);
  }

  // Two launches of one kernel that differ in the places of two variables.
  bool DifferInOrder(TurnTaking& turn) const {
    const HostLaunch &one = *turn.if_so, &other = *turn.if_not;
    if (one.name != other.name || one.arguments.size() != other.arguments.size()) return false;
    if (!HasSame(one.configuration, other.configuration) || !HasSame(one.template_arguments, other.template_arguments))
      return false;
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < one.arguments.size(); ++i) {
      if (program_.Text(one.arguments[i]) != program_.Text(other.arguments[i])) places.push_back(i);
    }
    if (places.size() != 2) return false;
    turn.a = program_.Text(one.arguments[places[0]]);
    turn.b = program_.Text(one.arguments[places[1]]);
    if (turn.a != program_.Text(other.arguments[places[1]]) || turn.b != program_.Text(other.arguments[places[0]])) return false;
    const auto is_local = [&](const std::string& name) {
      const ProgramVariable* const variable = IsWord(name) ? program_.FindVariable(name, one.function, one.range.begin) : nullptr;
      return variable != nullptr && variable->function == one.function && IsPointerType(variable->type);
    };
    return is_local(turn.a) && is_local(turn.b);
  }

  bool Alternates(const std::vector<std::string_view>& tokens, TurnTaking& turn) const {
    const HostExpression condition = ParseHostExpression(tokens);
    const auto names = condition.Names();
    if (names.size() != 1) return false;
    turn.name = names.front();
    if (const LoopVariable* const variable = turn.loop->Find(turn.name); variable != nullptr && !variable->in_body) {
      const auto begin = variable->initial ? WholeNumber(ParseHostExpression(program_.Tokens(*variable->initial))) : std::nullopt;
      const auto is_parity = [&](std::string_view token) { return IsParityWord(token, turn.name); };
      if (!begin || variable->next.Text() != turn.name + " + 1" || !std::all_of(tokens.begin(), tokens.end(), is_parity))
        return false;
      turn.begin = *begin;
      turn.next = *begin + 1;
      if (!HoldsInTurns(condition, turn.name, *begin) || !BranchesOnlyLaunch(turn, nullptr, nullptr)) return false;
    } else if (!FollowFlag(condition, turn)) {
      return false;
    }
    const auto now = HoldsWith(condition, turn.name, turn.begin), then = HoldsWith(condition, turn.name, turn.next);
    if (!now || !then || *now == *then) return false;
    turn.first_if_so = *now;
    if (!*now) std::swap(turn.a, turn.b);
    return true;
  }

  // A flag that begins with a number, and that both branches or the loop turn over.
  bool FollowFlag(const HostExpression& condition, TurnTaking& turn) const {
    const ProgramVariable* const flag = program_.FindVariable(turn.name, turn.loop->function, turn.loop->range.begin);
    if (flag == nullptr || flag->function != turn.loop->function || flag->initialiser.size() == 0) return false;
    const auto begin = WholeNumber(ParseHostExpression(program_.Tokens(flag->initialiser)));
    std::optional<std::int64_t> yes, no;
    if (!begin || !BranchesOnlyLaunch(turn, &yes, &no)) return false;
    const auto now = HoldsWith(condition, turn.name, *begin);
    if (!now) return false;
    turn.of_flag = true;
    turn.begin = *begin;
    turn.changes = yes && no ? 2 : 1;
    if (yes && no) {
      turn.next = *now ? *yes : *no;
      return (*now ? *no : *yes) == *begin;
    }
    if (yes || no || *begin < 0 || *begin > 1) return false;
    turn.next = 1 - *begin;
    bool behind = false;
    for (const auto& [first, end] : StatementsOf(turn.loop->body)) {
      behind = behind || first == turn.first;
      if (behind && IsToggle(first, end, turn.name)) return true;
      if (!behind || !IsCountedUp(first, end, turn.name)) continue;
      const auto tokens = program_.Tokens(RangeOfTokens(program_, turn.first + 2, program_.AfterBracket(turn.first + 1) - 1));
      turn.of_counter = std::all_of(tokens.begin(), tokens.end(), [&](auto token) { return IsParityWord(token, turn.name); }) &&
                        HoldsInTurns(condition, turn.name, *begin).has_value();
      turn.next = *begin + 1;
      return turn.of_counter;
    }
    return false;
  }

  // `n++;`
  bool IsCountedUp(std::size_t first, std::size_t end, std::string_view name) const {
    return end == first + 3 &&
           ((Token(first) == name && Token(first + 1) == "++") || (Token(first) == "++" && Token(first + 1) == name));
  }

  // `f = !f;`, `f = 1 - f;`, `f ^= 1;` or `f = f ^ 1;`.
  bool IsToggle(std::size_t first, std::size_t end, std::string_view name) const {
    std::string text;
    for (std::size_t at = first; at < end; ++at) text += (text.empty() ? "" : " ") + std::string(Token(at));
    for (const char* form : {"{0} = ! {0} ;", "{0} = 1 - {0} ;", "{0} ^= 1 ;", "{0} = {0} ^ 1 ;"}) {
      if (text == fmt::format(fmt::runtime(form), name)) return true;
    }
    return false;
  }

  // Whether the branches launch, look for errors and set the flag to a number, and do nothing else.
  bool BranchesOnlyLaunch(const TurnTaking& turn, std::optional<std::int64_t>* yes, std::optional<std::int64_t>* no) const {
    for (const bool so : {true, false}) {
      const HostLaunch& launch = *(so ? turn.if_so : turn.if_not);
      for (const auto& [first, end] : StatementsOf(so ? turn.yes : turn.no)) {
        const SourceRange range = RangeOfTokens(program_, first, end);
        if (range.begin == launch.range.begin) continue;
        const auto* const value = so ? yes : no;
        if (value != nullptr && Token(first) == turn.name && Token(first + 1) == "=") {
          const auto number = WholeNumber(ParseHostExpression(program_.Tokens(RangeOfTokens(program_, first + 2, end - 1))));
          if (!number || value->has_value()) return false;
          *(so ? yes : no) = number;
          continue;
        }
        const std::string_view text = program_.Text(range);
        const bool checks = text.find("cudaDeviceSynchronize") != text.npos || text.find("cudaGetLastError") != text.npos ||
                            text.find("cudaPeekAtLastError") != text.npos;
        if (!checks || Token(first) == "if" || text.find('=') != text.npos) return false;
      }
    }
    return true;
  }

  const SourceProgram& program_;
  const HostCalls& calls_;
};

}  // namespace

bool IsParityWord(std::string_view token, std::string_view name) {
  constexpr std::string_view kParity[] = {"%", "&", "2", "1", "0", "==", "!=", "!", "(", ")", "+", "-", "^"};
  return token == name || std::find(std::begin(kParity), std::end(kParity), token) != std::end(kParity);
}

std::optional<bool> HoldsWith(const HostExpression& condition, const std::string& name, std::int64_t value) {
  const auto result = ValueOf(condition, {{name, Number::Integer(value)}});
  return result ? std::optional(result->AsReal() != 0) : std::nullopt;
}

std::optional<bool> HoldsInTurns(const HostExpression& condition, const std::string& name, std::int64_t first) {
  constexpr int kTriedTurns = 8;  // more than any other condition of these words needs to show itself
  const auto begin = HoldsWith(condition, name, first);
  for (int i = 1; begin && i < kTriedTurns; ++i) {
    const auto then = HoldsWith(condition, name, first + i);
    if (!then || *then != (i % 2 == 0 ? *begin : !*begin)) return std::nullopt;
  }
  return begin;
}

std::optional<TurnTaking> TurnTakingOf(const SourceProgram& program, const HostCalls& calls, const HostLoop& loop) {
  return TurnReader(program, calls).Read(loop);
}

}  // namespace evo
