#include "import/alternating_launches.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "import/host_calls.h"
#include "import/host_loops.h"
#include "import/host_statements.h"
#include "import/turn_taking.h"
#include "syntax/splices.h"

namespace evo {
namespace {

// What a condition is while the pointers are as at first, and after an odd number of iterations.
struct ChoiceOfTurns {
  bool even = false, odd = false;
  bool alternates() const { return even != odd; }
};

class ExchangeWriter {
 public:
  explicit ExchangeWriter(const SourceProgram& program)
      : program_(program), calls_(program), loops_(ReadHostLoops(program, calls_)), others_(ReadPlainLoops(program, calls_)) {}

  std::optional<std::string> Run() {
    for (int function = 0; function < static_cast<int>(program_.functions().size()); ++function) {
      std::vector<TurnTaking> turns;
      for (const HostLoop& loop : loops_) {
        if (loop.function != function) continue;
        if (auto turn = TurnTakingOf(program_, calls_, loop)) turns.push_back(*turn);
      }
      Splices splices;
      if (!turns.empty() && Write(turns, splices)) splices_.insert(splices_.end(), splices.begin(), splices.end());
    }
    return Spliced(program_.tree(), std::move(splices_));
  }

 private:
  std::string_view Token(std::size_t at) const { return program_.Token(at); }

  // All of a function at once, since they share pointers and flags.
  bool Write(const std::vector<TurnTaking>& turns, Splices& splices) const {
    const TurnTaking& one = turns.front();
    for (const TurnTaking& turn : turns) {
      const bool same = turn.a == one.a && turn.b == one.b && turn.of_flag == one.of_flag &&
                        (turns.size() == 1 || (one.of_flag && turn.name == one.name && turn.next == one.next));
      if (!same || IsInLoop(turn)) return false;
    }
    if (one.of_flag && !OnlyTurnsChangeFlag(turns)) return false;
    if (!WriteBehind(turns, splices)) return false;
    for (const TurnTaking& turn : turns) {
      const HostLaunch& launch = *(turn.first_if_so ? turn.if_so : turn.if_not);
      // In the words of C, for which no header is needed.
      const std::string text = fmt::format("{{ {0}; auto* {3} = {1}; {1} = {2}; {2} = {3}; }}", program_.Text(launch.range),
                                           turn.a, turn.b, turn.a + "_before");
      AddSplice(turn.first, turn.end, text, splices);
    }
    return true;
  }

  bool IsInLoop(const TurnTaking& turn) const {
    const auto is_around = [&](const HostLoop& loop) {
      return &loop != turn.loop && loop.function == turn.loop->function && loop.range.Contains(turn.loop->range);
    };
    return std::any_of(loops_.begin(), loops_.end(), is_around) || std::any_of(others_.begin(), others_.end(), is_around);
  }

  bool OnlyTurnsChangeFlag(const std::vector<TurnTaking>& turns) const {
    const std::string& name = turns.front().name;
    const SourceRange& body = program_.functions()[static_cast<std::size_t>(turns.front().loop->function)].body;
    for (std::size_t at = program_.TokenAt(body.begin) + 1; at < program_.TokenAt(body.end); ++at) {
      if (Token(at) != name) continue;
      const std::string_view before = Token(at - 1);
      const bool changed = IsChangedAt(at) || before == "&";
      const bool declared = changed && IsWord(before) && before != "else";
      const auto is_of_turn = [&](const TurnTaking& turn) { return turn.loop->body.Contains(program_.tokens()[at]); };
      if (changed && !declared && std::none_of(turns.begin(), turns.end(), is_of_turn)) return false;
    }
    // In a loop there is one change of it for each iteration.
    return std::all_of(turns.begin(), turns.end(), [&](const TurnTaking& turn) {
      int changes = 0;
      for (std::size_t at = program_.TokenAt(turn.loop->body.begin); at < program_.TokenAt(turn.loop->body.end); ++at)
        changes += Token(at) == name && IsChangedAt(at) ? 1 : 0;
      return changes == turn.changes;
    });
  }

  bool IsChangedAt(std::size_t at) const {
    const std::string_view next = Token(at + 1), before = Token(at - 1);
    return (next.ends_with('=') && next != "==" && next != "!=" && next != "<=" && next != ">=") || next == "++" ||
           next == "--" || before == "++" || before == "--";
  }

  // What a condition behind the loop says of the number of iterations.
  std::optional<ChoiceOfTurns> ChoiceOf(const SourceRange& range, const TurnTaking& turn) const {
    const auto tokens = program_.Tokens(range);
    const HostExpression condition = ParseHostExpression(tokens);
    const auto names = condition.Names();
    if (names.size() != 1) return std::nullopt;
    std::int64_t even = turn.begin, odd = turn.next;
    if (!turn.of_flag) {
      const auto is_parity = [&](std::string_view token) { return IsParityWord(token, names.front()); };
      if (!std::all_of(tokens.begin(), tokens.end(), is_parity)) return std::nullopt;
      if (names.front() != turn.name) {  // `i < steps`
        const auto& head = turn.loop->condition;
        const bool counts = head.size() == 3 && head[0] == turn.name && head[2] == names.front() &&
                            ((turn.begin == 0 && head[1] == "<") || (turn.begin == 1 && head[1] == "<="));
        if (!counts) return std::nullopt;
        even = 2, odd = 3;
      }
    } else if (names.front() != turn.name) {
      return std::nullopt;
    }
    const auto is_of_counter = [&](std::string_view token) { return IsParityWord(token, turn.name); };
    if (turn.of_counter && !std::all_of(tokens.begin(), tokens.end(), is_of_counter)) return std::nullopt;
    if ((!turn.of_flag || turn.of_counter) && !HoldsInTurns(condition, names.front(), even)) return std::nullopt;
    const auto of_even = HoldsWith(condition, names.front(), even), of_odd = HoldsWith(condition, names.front(), odd);
    if (!of_even || !of_odd) return std::nullopt;
    return ChoiceOfTurns{*of_even, *of_odd};
  }

  // A statement with the names that its pointers have after an odd number of iterations, or an even one.
  std::string Renamed(std::size_t first, std::size_t end, const TurnTaking& turn, bool odd) const {
    std::string text;
    for (std::size_t at = first; at < end; ++at) {
      const std::string_view token = Token(at);
      const std::string name = token == turn.a ? turn.b : token == turn.b ? turn.a : std::string(token);
      text += (text.empty() ? "" : " ") + (odd ? name : std::string(token));
    }
    return text;
  }

  // Behind the first of the loops the pointers may only be chosen between, or freed.
  bool WriteBehind(const std::vector<TurnTaking>& turns, Splices& splices) const {
    const TurnTaking& turn = turns.front();
    const SourceRange& body = program_.functions()[static_cast<std::size_t>(turn.loop->function)].body;
    const std::size_t begin = program_.TokenAt(turn.loop->body.begin), end = program_.TokenAt(body.end);
    for (std::size_t at = begin; at + 1 < end; ++at) {
      const auto of_turn = std::find_if(turns.begin(), turns.end(), [&](const TurnTaking& other) { return other.first == at; });
      if (of_turn != turns.end()) {
        at = of_turn->end - 1;
        continue;
      }
      if (Token(at) == "if" && Token(at + 1) == "(") {
        const std::size_t last = WriteChoice(at, turn, splices);
        if (last > at) at = last - 1;
        continue;
      }
      if (Token(at) != turn.a && Token(at) != turn.b) continue;
      if (Token(at - 1) == "(" && Token(at - 2).starts_with("cudaFree")) continue;
      const std::size_t last = Token(at - 1) == "?" ? WriteConditional(at - 1, turn, splices) : 0;
      if (last == 0) return false;
      at = last - 1;
    }
    return true;
  }

  // `if (flag) copy(h, a); else copy(h, b);`. Returns the token behind it; 0 if it is something else.
  std::size_t WriteChoice(std::size_t at, const TurnTaking& turn, Splices& splices) const {
    const std::size_t yes = program_.AfterBracket(at + 1), yes_end = EndOfStatement(program_, yes);
    const auto choice = ChoiceOf(RangeOfTokens(program_, at + 2, yes - 1), turn);
    if (Token(yes_end) != "else" || !choice || !choice->alternates()) return 0;
    const std::size_t end = EndOfStatement(program_, yes_end + 1);
    const std::string one = Renamed(yes, yes_end, turn, choice->odd);
    if (one != Renamed(yes_end + 1, end, turn, choice->even)) return 0;
    AddSplice(at, end, one, splices);
    return end;
  }

  // `flag ? a : b`, from the question mark.
  std::size_t WriteConditional(std::size_t question, const TurnTaking& turn, Splices& splices) const {
    const bool of_both = Token(question + 2) == ":" && (Token(question + 3) == turn.a || Token(question + 3) == turn.b);
    std::size_t first = question;
    for (int depth = 0; first > 0; --first) {
      const std::string_view before = Token(first - 1);
      depth += before == ")" ? 1 : before == "(" ? -1 : 0;
      if (depth < 0 || (depth == 0 && (before == "=" || before == "," || before == "return" || before == ";"))) break;
    }
    const auto choice = ChoiceOf(RangeOfTokens(program_, first, question), turn);
    if (!of_both || !choice || !choice->alternates()) return 0;
    const std::string one = Renamed(question + 1, question + 2, turn, choice->odd);
    if (one != Renamed(question + 3, question + 4, turn, choice->even)) return 0;
    AddSplice(first, question + 4, one, splices);
    return question + 4;
  }

  // Lines stay where they are.
  void AddSplice(std::size_t first, std::size_t end, std::string text, Splices& splices) const {
    const SourceRange range = RangeOfTokens(program_, first, end);
    const std::string_view before = program_.Text(range);
    text.append(static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n')), '\n');
    splices.emplace_back(range, std::move(text));
  }

  const SourceProgram& program_;
  HostCalls calls_;
  std::vector<HostLoop> loops_, others_;
  Splices splices_;
};

}  // namespace

std::optional<std::string> WithExchanges(const SourceProgram& program) { return ExchangeWriter(program).Run(); }

}  // namespace evo
