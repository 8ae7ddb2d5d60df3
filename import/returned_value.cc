#include "import/returned_value.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "import/host_loops.h"
#include "import/host_statements.h"

namespace evo {
namespace {

using Kind = HostExpression::Kind;

constexpr std::size_t kMostTextOfValue = 400;  // of an expression

class ReturnReader {
 public:
  ReturnReader(const SourceProgram& program, const ProgramFunction& function) : program_(program), function_(function) {}

  std::optional<HostExpression> Run() {
    const std::size_t begin = program_.TokenAt(function_.body.begin), end = program_.TokenAt(function_.body.end);
    if (Token(begin) != "{" || end <= begin + 1) return std::nullopt;
    for (const ProgramParameter& one : function_.parameters) {
      if (!IsWhole(one.type)) return std::nullopt;
      values_[one.name] = HostExpression::Name(one.name);
    }
    std::optional<HostExpression> result = Block(begin + 1, end - 1);
    // Which of two values it is would be decided by the host's numbers, and not by those of each case.
    return result && !failed_ && result->IsKnown() && !HasChoice(*result) ? result : std::nullopt;
  }

 private:
  std::string_view Token(std::size_t at) const { return program_.Token(at); }

  static bool IsWhole(const std::string& type) {
    constexpr std::string_view kWhole[] = {"int", "unsigned int", "long", "unsigned long", "long long", "unsigned long long"};
    const std::string_view plain = std::string_view(type).substr(type.starts_with("const ") ? 6 : 0);
    return std::find(std::begin(kWhole), std::end(kWhole), plain) != std::end(kWhole);
  }

  std::optional<HostExpression> Fail() {
    failed_ = true;
    return std::nullopt;
  }

  // In terms of the parameters.
  HostExpression Value(std::size_t first, std::size_t end) {
    HostExpression value = Simplified(
        Replaced(ParseHostExpression(program_.Tokens(RangeOfTokens(program_, first, end))), [&](const HostExpression& part) {
          const auto known = part.kind == Kind::kName ? values_.find(part.text) : values_.end();
          return known == values_.end() ? std::nullopt : std::optional(known->second);
        }));
    failed_ = failed_ || value.Text().size() > kMostTextOfValue;
    return value;
  }

  // What the statements return; nullopt if they return nothing.
  std::optional<HostExpression> Block(std::size_t at, std::size_t end) {
    while (at < end && !failed_) {
      const std::size_t next = EndOfStatement(program_, at);
      if (Token(at) == "return" && (Token(at + 1) == "++" || Token(at + 1) == "--")) {
        Change(at + 1, next);
        return Value(at + 2, next - 1);
      }
      if (Token(at) == "return") return Value(at + 1, next - 1);
      if (Token(at) == "if") {
        if (auto result = Choice(at, next, end)) return result;
      } else if (Token(at) == "while" || Token(at) == "for") {
        Loop(at, next);
      } else if (const std::size_t filled = FillsBits(at, end)) {
        at = filled;
        continue;
      } else {
        Change(at, next);
      }
      at = next;
    }
    return std::nullopt;
  }

  // `if (c) return x;`, or one that changes numbers.
  std::optional<HostExpression> Choice(std::size_t at, std::size_t next, std::size_t end) {
    const std::size_t yes = program_.AfterBracket(at + 1), yes_end = EndOfStatement(program_, yes);
    const HostExpression condition = Value(at + 2, yes - 1);
    const bool has_else = Token(yes_end) == "else";
    const auto before = values_;
    const auto one = Branch(yes, yes_end);
    auto so = std::exchange(values_, before);
    const auto other = has_else ? Branch(yes_end + 1, next) : std::nullopt;
    if (one || other) {
      if (one && other) return Conditional(condition, *one, *other);
      if (!one) values_ = std::move(so);  // else what is behind sees what the other branch did
      const auto rest = Block(next, end);
      if (!rest) return Fail();
      return one ? Conditional(condition, *one, *rest) : Conditional(condition, *rest, *other);
    }
    for (auto& [name, value] : values_) {
      const auto changed = so.find(name);
      if (changed == so.end() || changed->second.Text() == value.Text()) continue;
      const HostExpression more = Simplified(HostExpression::Binary("+", value, HostExpression::Integer(1)));
      if (changed->second.Text() == more.Text())  // c++
        value = Simplified(
            HostExpression::Binary("+", value, Conditional(condition, HostExpression::Integer(1), HostExpression::Integer(0))));
      else
        value = Conditional(condition, changed->second, value);
    }
    return std::nullopt;
  }

  std::optional<HostExpression> Branch(std::size_t first, std::size_t end) {
    const bool block = Token(first) == "{";
    return Block(block ? first + 1 : first, block ? end - 1 : end);
  }

  static HostExpression Conditional(HostExpression condition, HostExpression yes, HostExpression no) {
    if (condition.kind == Kind::kBinary && condition.parts.size() == 2) {
      const std::string left = condition.parts[0].Text(), right = condition.parts[1].Text();
      const bool less = condition.Is("<") || condition.Is("<="), more = condition.Is(">") || condition.Is(">=");
      const bool first = yes.Text() == left && no.Text() == right, second = yes.Text() == right && no.Text() == left;
      if ((less || more) && (first || second)) return HostExpression::Call(less == first ? "min" : "max", {yes, no});
    }
    return Simplified({Kind::kConditional, "?", {}, {std::move(condition), std::move(yes), std::move(no)}});
  }

  static bool HasChoice(const HostExpression& expression) {
    return expression.kind == Kind::kConditional ||
           std::any_of(expression.parts.begin(), expression.parts.end(), [](const auto& part) { return HasChoice(part); });
  }

  // `int c = a / b;`, `c = a;`, `c += a;` and `c++;`.
  void Change(std::size_t at, std::size_t end) {
    std::size_t name = at;
    while (IsWord(Token(name)) && IsWord(Token(name + 1))) ++name;  // the type
    const bool declares = name > at;
    const bool before = Token(at) == "++" || Token(at) == "--";
    if (before) name = at + 1;
    const std::string variable(Token(name));
    const std::string_view op = before ? Token(at) : Token(name + 1);
    if (!IsWord(variable) || (!declares && !values_.contains(variable))) return void(Fail());
    if (declares && op == ";") return void(values_[variable] = {});  // set later
    const HostExpression self = declares ? HostExpression{} : values_[variable];
    if (op == "++" || op == "--") {
      values_[variable] = Simplified(HostExpression::Binary(op == "++" ? "+" : "-", self, HostExpression::Integer(1)));
      failed_ = failed_ || name + (before ? 2 : 3) != end;
      return;
    }
    constexpr std::string_view kChanges[] = {"=", "+=", "-=", "*=", "/=", "<<=", ">>="};
    if (std::find(std::begin(kChanges), std::end(kChanges), op) == std::end(kChanges) || (declares && op != "="))
      return void(Fail());
    for (std::size_t i = name + 2; i + 1 < end; ++i) {
      if (Token(i) == "," || Token(i).ends_with("++") || Token(i).ends_with("--") || Token(i) == "=") return void(Fail());
    }
    HostExpression value = Value(name + 2, end - 1);
    if (op != "=") value = Simplified(HostExpression::Binary(std::string(op.substr(0, op.size() - 1)), self, std::move(value)));
    values_[variable] = std::move(value);
  }

  // `while (p < n) p *= 2;`
  void Loop(std::size_t at, std::size_t end) {
    const std::size_t body = program_.AfterBracket(at + 1);
    if (Token(at) != "while" || end <= body) return void(Fail());
    const bool block = Token(body) == "{";
    const std::size_t first = block ? body + 1 : body, last = block ? end - 1 : end;
    if (EndOfStatement(program_, first) != last) return void(Fail());
    const std::string name(Token(first));
    const auto start = values_.find(name);
    if (start == values_.end()) return void(Fail());
    const HostExpression begin = start->second;
    // Of the other numbers only.
    start->second = HostExpression::Name(name);
    const HostExpression condition = Value(at + 2, body - 1);
    const auto others = values_;
    Change(first, last);
    const HostExpression next = values_[name];
    values_ = others;
    const auto after = ValueAfterLoop(name, begin, next, condition);
    if (!after) return void(Fail());
    values_[name] = *after;
  }

  // `x |= x >> 1; x |= x >> 2; ..`: all bits below the highest. The token behind them; 0 if it is something else.
  std::size_t FillsBits(std::size_t at, std::size_t end) {
    const std::string name(Token(at));
    std::size_t filled = at;
    for (int shift = 1; shift <= 32 && filled < end; shift *= 2) {
      const std::string number = std::to_string(shift);
      const std::string_view found[] = {Token(filled),     Token(filled + 1), Token(filled + 2),
                                        Token(filled + 3), Token(filled + 4), Token(filled + 5)};
      const std::string_view wanted[] = {name, "|=", name, ">>", number, ";"};
      if (!std::equal(std::begin(found), std::end(found), std::begin(wanted))) {
        if (shift == 32) break;  // of 32 bits
        return 0;
      }
      filled += 6;
    }
    const auto value = values_.find(name);
    if (value == values_.end()) return 0;
    const HostExpression bits = HostExpression::Call(
        "ceil_log",
        {Simplified(HostExpression::Binary("+", value->second, HostExpression::Integer(1))), HostExpression::Integer(2)});
    value->second = HostExpression::Binary("-", HostExpression::Call("power", {HostExpression::Integer(2), bits}),
                                           HostExpression::Integer(1));
    return filled;
  }

  const SourceProgram& program_;
  const ProgramFunction& function_;
  std::map<std::string, HostExpression> values_;  // of parameters and variables, in terms of the parameters
  bool failed_ = false;
};

}  // namespace

std::optional<HostExpression> ReturnedValue(const SourceProgram& program, const ProgramFunction& function) {
  return ReturnReader(program, function).Run();
}

}  // namespace evo
