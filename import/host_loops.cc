#include "import/host_loops.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "import/host_statements.h"

namespace evo {
namespace {

using Kind = HostExpression::Kind;

HostExpression Whole(std::int64_t value) { return HostExpression::Integer(value); }

bool IsWhole(const HostExpression& expression, std::int64_t value) {
  return expression.kind == Kind::kNumber && !expression.number.is_real && expression.number.integer == value;
}

class HostLoopReader {
 public:
  HostLoopReader(const SourceProgram& program, const HostCalls& calls) : program_(program), calls_(calls) {}

  // Those around launches, or all others.
  std::vector<HostLoop> Run(bool around_launches) {
    FindLaunching();
    std::vector<HostLoop> loops;
    // By tokens, since the tree lacks loops whose body it does not understand.
    std::set<std::size_t> ends;  // `while` of do .. while
    for (std::size_t at = 0; at < program_.tokens().size(); ++at) {
      const std::string_view word = Token(at);
      if ((word != "for" && word != "while" && word != "do") || ends.contains(at)) continue;
      HostLoop loop;
      loop.range = Between(at, EndOf(at));
      loop.function = program_.FunctionAt(program_.tokens()[at].begin);
      if (word == "do") ends.insert(EndOf(at + 1));
      if (loop.function < 0 || program_.functions()[static_cast<std::size_t>(loop.function)].device) continue;
      const auto contains = [&](const SourceRange& one) { return loop.range.Contains(one); };
      if (std::any_of(launching_.begin(), launching_.end(), contains) != around_launches) continue;
      ReadHead(word, loop);
      loops.push_back(std::move(loop));
    }
    return loops;
  }

 private:
  std::string_view Token(std::size_t at) const { return program_.Token(at); }
  SourceRange Between(std::size_t first, std::size_t end) const { return RangeOfTokens(program_, first, end); }
  std::size_t EndOf(std::size_t at) const { return EndOfStatement(program_, at); }

  // Launches, and calls of functions of the program that launch.
  void FindLaunching() {
    std::set<std::string> names;
    const auto add = [&](const HostCall& call) {
      launching_.push_back(call.range);
      if (call.function >= 0) names.insert(program_.functions()[static_cast<std::size_t>(call.function)].name);
    };
    for (const HostLaunch& launch : calls_.launches()) add(launch);
    for (std::size_t before = 0; before != names.size();) {
      before = names.size();
      for (const HostCall& call : calls_.calls()) {
        if (names.contains(call.name)) add(call);
      }
    }
  }

  void ReadHead(std::string_view kind, HostLoop& loop) {
    const std::size_t begin = program_.TokenAt(loop.range.begin);
    const std::size_t end = program_.TokenAt(loop.range.end);
    std::pair<std::size_t, std::size_t> initial{0, 0};
    if (kind == "do") {
      const std::size_t after = EndOf(begin + 1);
      loop.at_least_once = true;
      loop.body = Between(begin + 1, after);
      if (Token(after) == "while") loop.condition = program_.Tokens(Between(after + 2, program_.AfterBracket(after + 1) - 1));
    } else if (kind == "while") {
      const std::size_t after = program_.AfterBracket(begin + 1);
      loop.condition = program_.Tokens(Between(begin + 2, after - 1));
      loop.body = Between(after, end);
    } else {
      const std::size_t after = program_.AfterBracket(begin + 1);
      std::vector<std::size_t> semicolons;
      for (std::size_t i = begin + 2; i + 1 < after; ++i) {
        if (Token(i) == "(" || Token(i) == "{" || Token(i) == "[") i = program_.AfterBracket(i) - 1;
        if (Token(i) == ";") semicolons.push_back(i);
      }
      if (semicolons.size() != 2) return;
      loop.condition = program_.Tokens(Between(semicolons[0] + 1, semicolons[1]));
      loop.body = Between(after, end);
      ReadUpdates(semicolons[1] + 1, after - 1, false, loop);
      initial = {begin + 2, semicolons[0]};
    }
    const std::size_t first = program_.TokenAt(loop.body.begin);
    ReadUpdates(first, program_.TokenAt(loop.body.end), true, loop);
    ReadInitial(initial.first, initial.second, loop);
    const bool endless =
        loop.condition.empty() || (loop.condition.size() == 1 && (loop.condition[0] == "1" || loop.condition[0] == "true"));
    if (endless) ReadBreak(loop);
  }

  // `if (i >= n) break;` at the end of an endless loop: do .. while (i < n).
  void ReadBreak(HostLoop& loop) const {
    static const std::map<std::string_view, std::string_view> kOpposite = {
        {"<", ">="}, {"<=", ">"}, {">", "<="}, {">=", "<"}, {"==", "!="}};
    std::size_t end = program_.TokenAt(loop.body.end);
    if (Token(program_.TokenAt(loop.body.begin)) != "{" || end < 2) return;
    --end;  // the closing bracket
    for (std::size_t at = program_.TokenAt(loop.body.begin) + 1; at < end; at = EndOf(at)) {
      if (Token(at) != "if" || EndOf(at) != end) continue;
      const std::size_t after = program_.AfterBracket(at + 1);
      const std::size_t word = Token(after) == "{" ? after + 1 : after;
      if (Token(word) != "break" || Token(word + 1) != ";") return;
      std::vector<std::string_view> condition = program_.Tokens(Between(at + 2, after - 1));
      const auto compares = std::count_if(condition.begin(), condition.end(), [](auto t) { return kOpposite.contains(t); });
      const auto op = std::find_if(condition.begin(), condition.end(), [](auto t) { return kOpposite.contains(t); });
      const bool joined = std::any_of(condition.begin(), condition.end(), [](auto t) { return t == "&&" || t == "||"; });
      if (compares != 1 || joined) return;
      *op = kOpposite.at(*op);
      loop.condition = std::move(condition);
      loop.at_least_once = true;
      loop.own_break = program_.tokens()[word];
      return;
    }
  }

  // `int s = 1, t = n` and `s = 1`.
  void ReadInitial(std::size_t first, std::size_t end, HostLoop& loop) const {
    for (std::size_t i = first; i + 2 <= end; ++i) {
      if (Token(i + 1) != "=" || !IsWord(Token(i))) continue;
      std::size_t close = i + 2;
      for (; close < end && Token(close) != ","; ++close) {
        if (Token(close) == "(" || Token(close) == "{" || Token(close) == "[") close = program_.AfterBracket(close) - 1;
      }
      for (LoopVariable& variable : loop.variables) {
        if (variable.name == Token(i)) variable.initial = Between(i + 2, close);
      }
      i = close;
    }
  }

  // Assignments in one place, not in a loop or under a condition inside of it. A variable that is changed twice follows no rule.
  void ReadUpdates(std::size_t first, std::size_t end, bool in_body, HostLoop& loop) {
    std::map<std::string, int> changes;
    const auto add = [&](std::string_view name, HostExpression next, const SourceRange& update) {
      const bool known = loop.Find(std::string(name)) != nullptr;
      if (++changes[std::string(name)] > 1 || known) {
        next = {};
        for (LoopVariable& one : loop.variables) {
          if (one.name == name) one.next = next;
        }
        if (known) return;
      }
      loop.variables.push_back({std::string(name), std::move(next), update, std::nullopt, in_body});
    };
    int depth = 0;
    for (std::size_t i = first; i < end; ++i) {
      const std::string_view token = Token(i);
      if (token == "{" || token == "(") ++depth;
      if (token == "}" || token == ")") --depth;
      const bool step = token == "++" || token == "--";
      if (step) {
        const bool after = i > first && IsWord(Token(i - 1));
        const std::size_t name = after ? i - 1 : i + 1;
        if (!IsWord(Token(name)) || Token(name + 1) == "[") continue;
        const HostExpression self = HostExpression::Name(std::string(Token(name)));
        add(Token(name),
            Statement(name, in_body && std::min(i, name) > first, depth)
                ? HostExpression::Binary(token == "++" ? "+" : "-", self, Whole(1))
                : HostExpression{},
            Between(std::min(i, name), std::max(i, name) + 1));
        continue;
      }
      static const std::set<std::string_view> kAssigns = {"=", "+=", "-=", "*=", "/=", ">>=", "<<="};
      if (!kAssigns.contains(token) || i == first || !IsWord(Token(i - 1)) || Token(i - 2) == "." || Token(i - 2) == "->")
        continue;
      // A declaration is of the iteration alone.
      if (in_body && (IsWord(Token(i - 2)) || Token(i - 2) == "*" || Token(i - 2) == "&") && Token(i - 2) != "else") continue;
      std::size_t close = i + 1;
      for (; close < end && Token(close) != ";" && Token(close) != "," && Token(close) != ")"; ++close) {
        if (Token(close) == "(" || Token(close) == "{" || Token(close) == "[") close = program_.AfterBracket(close) - 1;
      }
      HostExpression value = ParseHostExpression(program_.Tokens(Between(i + 1, close)));
      const HostExpression self = HostExpression::Name(std::string(Token(i - 1)));
      if (token.size() > 1)
        value = HostExpression::Binary(std::string(token.substr(0, token.size() - 1)), self, std::move(value));
      if (!Statement(i - 1, in_body && i - 1 > first, depth)) value = {};
      add(Token(i - 1), std::move(value), Between(i - 1, close));
    }
  }

  // Whether an assignment runs once in each iteration.
  bool Statement(std::size_t at, bool in_body, int depth) const {
    if (!in_body) return true;
    if (at == 0 || depth > 1) return false;
    const std::string_view before = Token(at - 1) == "++" || Token(at - 1) == "--" ? Token(at - 2) : Token(at - 1);
    return before == ";" || before == "{" || before == "}";
  }

  const SourceProgram& program_;
  const HostCalls& calls_;
  std::vector<SourceRange> launching_;
};

}  // namespace

const LoopVariable* HostLoop::Find(const std::string& name) const {
  const auto found = std::find_if(variables.begin(), variables.end(), [&](const LoopVariable& one) { return one.name == name; });
  return found == variables.end() ? nullptr : &*found;
}

std::vector<HostLoop> ReadHostLoops(const SourceProgram& program, const HostCalls& calls) {
  return HostLoopReader(program, calls).Run(true);
}

std::vector<HostLoop> ReadPlainLoops(const SourceProgram& program, const HostCalls& calls) {
  return HostLoopReader(program, calls).Run(false);
}

HostExpression LoopRule::ValueAfter(const HostExpression& start, const HostExpression& steps) const {
  if (kind == Kind::kAdd) {
    if (by.kind == HostExpression::Kind::kNumber && by.number.AsReal() < 0) {
      const HostExpression back = HostExpression::Binary("*", steps, HostExpression::Integer(-by.number.integer));
      return Simplified(HostExpression::Binary("-", start, Simplified(back)));
    }
    const HostExpression sum = HostExpression::Binary("*", steps, by);
    return Simplified(IsWhole(start, 0) ? sum : HostExpression::Binary("+", start, sum));
  }
  const HostExpression factor = HostExpression::Call("power", {by, steps});
  if (kind == Kind::kTimes) return Simplified(HostExpression::Binary("*", start, factor));
  if (kind == Kind::kDivide) return Simplified(HostExpression::Binary("/", start, factor));
  return Simplified(HostExpression::Call("ceil_div", {start, factor}));
}

std::optional<LoopRule> RuleOf(const std::string& label, const HostExpression& next) {
  if ((next.kind != Kind::kBinary && next.kind != Kind::kCall) || next.parts.size() != 2) return std::nullopt;
  const auto is_self = [&](const HostExpression& part) { return part.kind == Kind::kName && part.text == label; };
  const bool first = is_self(next.parts[0]);
  const HostExpression& other = next.parts[first ? 1 : 0];
  const auto names = other.Names();
  if (first == is_self(next.parts[1]) || !other.IsKnown() || std::find(names.begin(), names.end(), label) != names.end())
    return std::nullopt;
  if (next.kind == Kind::kCall) {
    if (next.Is("ceil_div") && first) return LoopRule{LoopRule::Kind::kCeilDivide, other};
    return std::nullopt;
  }
  const bool shifts = next.Is("<<") || next.Is(">>");
  if (other.kind == Kind::kNumber) {  // a loop that never gets anywhere, or changes sign
    const Number& by = other.number;
    const bool scales = next.Is("*") || next.Is("/");
    if (scales && (by.is_real || by.integer < 2)) return std::nullopt;
    if (shifts && (by.is_real || by.integer < 1 || by.integer > 30)) return std::nullopt;
    if ((next.Is("+") || next.Is("-")) && by.AsReal() == 0) return std::nullopt;
  }
  const HostExpression shifted = Simplified(HostExpression::Binary("<<", Whole(1), other));
  if (next.Is("+")) return LoopRule{LoopRule::Kind::kAdd, other};
  if (next.Is("*")) return LoopRule{LoopRule::Kind::kTimes, other};
  if (!first) return std::nullopt;
  if (next.Is("-")) return LoopRule{LoopRule::Kind::kAdd, Simplified(HostExpression{Kind::kUnary, "-", {}, {other}})};
  if (next.Is("/")) return LoopRule{LoopRule::Kind::kDivide, other};
  if (next.Is("<<")) return LoopRule{LoopRule::Kind::kTimes, shifted};
  if (next.Is(">>")) return LoopRule{LoopRule::Kind::kDivide, shifted};
  return std::nullopt;
}

std::optional<HostExpression> IterationsOf(const LoopRule& rule, const HostExpression& start, std::string_view op,
                                           const HostExpression& bound) {
  const auto minus = [](HostExpression a, HostExpression b) { return HostExpression::Binary("-", std::move(a), std::move(b)); };
  const auto plus = [](HostExpression a, std::int64_t b) {
    return b == 0 ? a : HostExpression::Binary("+", std::move(a), Whole(b));
  };
  const auto log = [&](HostExpression value) { return HostExpression::Call("ceil_log", {std::move(value), rule.by}); };
  const bool up = op == "<" || op == "<=" || op == "!=";
  const bool inclusive = op == "<=" || op == ">=";
  if (rule.kind == LoopRule::Kind::kAdd) {
    const bool down = rule.by.kind == Kind::kUnary || (rule.by.kind == Kind::kNumber && rule.by.number.AsReal() < 0);
    if (down == up && op != "!=") return std::nullopt;
    HostExpression span = down ? minus(start, bound) : minus(bound, start);
    const HostExpression by = down ? Simplified(HostExpression{Kind::kUnary, "-", {}, {rule.by}}) : rule.by;
    // d = 1; d <= n
    const bool from_one = !down && inclusive && IsWhole(start, 1);
    // d = n - 1; d >= 0
    const bool to_zero =
        down && inclusive && IsWhole(bound, 0) && start.Is("-") && start.parts.size() == 2 && IsWhole(start.parts[1], 1);
    span = from_one ? bound : to_zero ? start.parts[0] : Simplified(plus(Simplified(span), inclusive ? 1 : 0));
    return Simplified(HostExpression::Call("ceil_div", {span, by}));
  }
  if (rule.kind == LoopRule::Kind::kTimes) {
    if (!up) return std::nullopt;
    const HostExpression quotient =
        inclusive ? plus(HostExpression::Binary("/", bound, start), 1) : HostExpression::Call("ceil_div", {bound, start});
    return Simplified(log(Simplified(quotient)));
  }
  if (op == "!=" ? !(bound.kind == Kind::kNumber) : up) return std::nullopt;
  // The least value that goes on.
  const HostExpression least = Simplified(plus(bound, inclusive ? 0 : 1));
  if (least.kind == Kind::kNumber && least.number.AsReal() < 1) return std::nullopt;
  if (rule.kind == LoopRule::Kind::kDivide)
    return Simplified(log(Simplified(plus(Simplified(HostExpression::Binary("/", start, least)), 1))));
  const HostExpression most = Simplified(minus(least, Whole(1)));
  if (IsWhole(most, 0)) return std::nullopt;
  return Simplified(log(Simplified(HostExpression::Call("ceil_div", {start, most}))));
}

std::vector<LoopComparison> ComparisonsOf(const HostExpression& condition,
                                          const std::function<bool(const std::string&)>& is_variable) {
  const auto is_one = [&](const HostExpression& part) { return part.kind == Kind::kName && is_variable(part.text); };
  if (is_one(condition)) return {{condition.text, ">", Whole(0)}};
  if (condition.kind != Kind::kBinary) return {};
  if (condition.Is("&&")) {
    std::vector<LoopComparison> all = ComparisonsOf(condition.parts[0], is_variable);
    for (LoopComparison& one : ComparisonsOf(condition.parts[1], is_variable)) all.push_back(std::move(one));
    return all;
  }
  static const std::map<std::string, std::string, std::less<>> kReversed = {
      {"<", ">"}, {"<=", ">="}, {">", "<"}, {">=", "<="}, {"!=", "!="}};
  const auto reversed = kReversed.find(condition.text);
  if (reversed == kReversed.end()) return {};
  if (is_one(condition.parts[0])) return {{condition.parts[0].text, condition.text, condition.parts[1]}};
  if (is_one(condition.parts[1])) return {{condition.parts[1].text, reversed->second, condition.parts[0]}};
  return {};
}

std::optional<HostExpression> ValueAfterLoop(const std::string& name, const HostExpression& start, const HostExpression& next,
                                             const HostExpression& condition) {
  const auto rule = RuleOf(name, next);
  if (!rule || !rule->IsGeometric() || rule->by.kind != Kind::kNumber || condition.Is("&&")) return std::nullopt;
  const auto all = ComparisonsOf(condition, [&](const std::string& one) { return one == name; });
  const auto names = all.size() == 1 ? all[0].bound.Names() : std::vector{name};
  if (std::find(names.begin(), names.end(), name) != names.end() || all[0].op == "!=") return std::nullopt;
  const auto steps = IterationsOf(*rule, start, all[0].op, all[0].bound);
  if (!steps) return std::nullopt;
  HostExpression value = rule->ValueAfter(start, *steps);
  return value.IsKnown() ? std::optional(value) : std::nullopt;
}

}  // namespace evo
