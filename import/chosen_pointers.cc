#include "import/chosen_pointers.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "import/host_calls.h"
#include "import/host_expression.h"
#include "import/host_statements.h"
#include "syntax/splices.h"

namespace evo {
namespace {

std::optional<std::int64_t> NumberWith(const HostExpression& expression, const Variables& values) {
  const auto value = ValueOf(expression, values);
  return value && !value->is_real ? std::optional(value->integer) : std::nullopt;
}

class PairWriter {
 public:
  explicit PairWriter(const SourceProgram& program) : program_(program) {}

  std::optional<std::string> Run() {
    for (const ProgramVariable& variable : program_.variables()) {
      Splices splices;
      if (Write(variable, splices)) splices_.insert(splices_.end(), splices.begin(), splices.end());
    }
    return Spliced(program_.tree(), std::move(splices_));
  }

 private:
  std::string_view Token(std::size_t at) const { return program_.Token(at); }

  bool Write(const ProgramVariable& variable, Splices& splices) const {
    if (variable.function < 0 || variable.loop || !variable.type.ends_with("*[2]")) return false;
    const ProgramFunction& function = program_.functions()[static_cast<std::size_t>(variable.function)];
    const SyntaxNode& statement = program_.tree().node(program_.tree().node(variable.node).parent);
    if (function.kernel || function.device || statement.kind_name != "DeclStmt" || statement.children.size() != 1) return false;
    for (const ProgramVariable& other : program_.variables()) {
      if (&other != &variable && other.name == variable.name && other.function == variable.function) return false;
    }
    if (!WriteDeclaration(variable, statement.range, splices)) return false;
    const std::size_t end = program_.TokenAt(function.body.end);
    for (std::size_t at = program_.TokenAt(statement.range.end); at < end; ++at) {
      const std::size_t loop_end = Token(at) == "for" ? WriteLoop(variable, at, splices) : 0;
      if (loop_end > 0) {
        at = loop_end - 1;
        continue;
      }
      if (Token(at) != variable.name) continue;
      if (Token(at + 1) != "[") return false;
      const std::size_t close = program_.AfterBracket(at + 1);
      splices.emplace_back(RangeOfTokens(program_, at, close), Written(variable, at, close));
      at = close - 1;
    }
    return true;
  }

  bool WriteDeclaration(const ProgramVariable& variable, const SourceRange& range, Splices& splices) const {
    const std::string type = variable.type.substr(0, variable.type.size() - 3);
    std::vector<std::string> values;
    if (variable.initialiser.size() > 0) {
      const std::size_t open = program_.TokenAt(variable.initialiser.begin);
      const std::size_t end = Token(open) == "{" ? program_.AfterBracket(open) - 1 : open;
      int depth = 0;
      std::size_t first = open + 1;
      for (std::size_t at = open + 1; at <= end && end > open; ++at) {
        const std::string_view token = Token(at);
        depth += token == "(" || token == "[" || token == "{"                 ? 1
                 : token == ")" || token == "]" || (token == "}" && at < end) ? -1
                                                                              : 0;
        if (depth != 0 || (token != "," && at < end) || at == first) continue;
        values.emplace_back(program_.Text(RangeOfTokens(program_, first, at)));
        first = at + 1;
      }
      if (values.size() != 2) return false;
    }
    std::string text;
    for (const std::size_t which : {0, 1}) {
      text += fmt::format("{} {}_{}", type, variable.name, which);
      text += values.empty() ? "; " : fmt::format(" = {}; ", values[which]);
    }
    text.pop_back();
    if (!program_.Text(range).ends_with(';')) text.pop_back();
    AddLines(range, text, splices);
    return true;
  }

  // `for (int i = 0; i < 2; i++) ..` in which elements with that number are named. Returns the token behind it; 0 for others.
  std::size_t WriteLoop(const ProgramVariable& variable, std::size_t at, Splices& splices) const {
    const std::string_view counter = Token(at + 3);
    constexpr std::string_view kHead[] = {"for", "(", "int", "", "=", "0", ";", "", "<", "2", ";"};
    for (std::size_t i = 0; i < std::size(kHead); ++i) {
      if (Token(at + i) != (kHead[i].empty() ? counter : kHead[i])) return 0;
    }
    const std::size_t body = program_.AfterBracket(at + 1), end = EndOfStatement(program_, body);
    bool names = false;
    for (std::size_t i = body; i + 2 < end; ++i)
      names = names || (Token(i) == variable.name && Token(i + 1) == "[" && Token(i + 2) == counter);
    const bool steps = body == at + 14 && (Token(at + 11) == "++" || Token(at + 12) == "++");
    if (!names || !steps) return 0;
    std::string text;
    for (const int which : {0, 1}) text += fmt::format("{{ {} }} ", Written(variable, body, end, counter, which));
    AddLines(RangeOfTokens(program_, at, end), text, splices);
    return end;
  }

  // Tokens with variables for elements; a counter has this value.
  std::string Written(const ProgramVariable& variable, std::size_t first, std::size_t end, std::string_view counter = "",
                      int value = 0) const {
    std::string text;
    const auto& tokens = program_.tokens();
    for (std::size_t at = first; at < end; ++at) {
      if (at > first && tokens[at].begin > tokens[at - 1].end) text += ' ';
      if (Token(at) == variable.name && Token(at + 1) == "[") {
        const std::size_t close = program_.AfterBracket(at + 1);
        text += Element(variable.name, Written(variable, at + 2, close - 1, counter, value));
        at = close - 1;
      } else {
        text += !counter.empty() && Token(at) == counter ? std::to_string(value) : std::string(Token(at));
      }
    }
    return text;
  }

  static std::string Element(const std::string& name, const std::string& index) {
    const auto number = NumberWith(ParseHostExpression(SpelledTokens(index)), {});
    if (number == 0 || number == 1) return fmt::format("{}_{}", name, *number);
    return fmt::format("(({1}) == 0 ? {0}_0 : {0}_1)", name, index);
  }

  void AddLines(const SourceRange& range, std::string text, Splices& splices) const {
    const std::string_view before = program_.Text(range);
    const auto lines = std::count(before.begin(), before.end(), '\n') - std::count(text.begin(), text.end(), '\n');
    if (lines > 0) text.append(static_cast<std::size_t>(lines), '\n');
    splices.emplace_back(range, std::move(text));
  }

  const SourceProgram& program_;
  Splices splices_;
};

// `condition ? yes : no` of an argument.
struct ChoiceOfPointers {
  std::size_t argument = 0;
  std::string condition, yes, no;
};

class ChoiceWriter {
 public:
  explicit ChoiceWriter(const SourceProgram& program) : program_(program), calls_(program) {}

  std::optional<std::string> Run() {
    for (const HostLaunch& launch : calls_.launches()) Write(launch);
    return Spliced(program_.tree(), std::move(splices_));
  }

 private:
  std::optional<ChoiceOfPointers> ChoiceOf(const HostLaunch& launch, std::size_t argument) const {
    auto tokens = program_.Tokens(launch.arguments[argument]);
    while (tokens.size() > 2 && tokens.front() == "(" && tokens.back() == ")" && IsOneBracket(tokens))
      tokens = {tokens.begin() + 1, tokens.end() - 1};
    const std::size_t count = tokens.size();
    const bool is_choice = count >= 5 && tokens[count - 4] == "?" && tokens[count - 2] == ":";
    if (!is_choice || !IsWord(tokens[count - 3]) || !IsWord(tokens[count - 1])) return std::nullopt;
    ChoiceOfPointers choice{argument, {}, std::string(tokens[count - 3]), std::string(tokens[count - 1])};
    for (std::size_t i = 0; i + 4 < count; ++i) choice.condition += fmt::format("{}{}", i > 0 ? " " : "", tokens[i]);
    return choice;
  }

  static bool IsOneBracket(const std::vector<std::string_view>& tokens) {
    int depth = 0;
    for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
      depth += tokens[i] == "(" ? 1 : tokens[i] == ")" ? -1 : 0;
      if (depth == 0) return false;
    }
    return true;
  }

  // Whether the second condition holds where the first does, or where it does not; nullopt if neither.
  static std::optional<bool> IsSame(const std::string& one, const std::string& other) {
    if (one == other) return true;
    constexpr int kTriedNumbers = 8;
    const HostExpression first = ParseHostExpression(SpelledTokens(one)), second = ParseHostExpression(SpelledTokens(other));
    const auto names = first.Names();
    if (names.size() != 1 || second.Names() != names) return std::nullopt;
    int same = 0, opposite = 0;
    for (int i = 0; i < kTriedNumbers; ++i) {
      const Variables values{{names.front(), Number::Integer(i)}};
      const auto a = NumberWith(first, values), b = NumberWith(second, values);
      // An index of two pointers is 0 or 1.
      if (!a || !b || !IsIndex(first, values) || !IsIndex(second, values)) continue;
      ((*a != 0) == (*b != 0) ? same : opposite) += 1;
    }
    if (same + opposite < 2 || (same > 0 && opposite > 0)) return std::nullopt;
    return same > 0;
  }

  static bool IsIndex(const HostExpression& condition, const Variables& values) {
    if (condition.kind != HostExpression::Kind::kBinary || !condition.Is("==") || condition.parts[1].Text() != "0") return true;
    const auto index = NumberWith(condition.parts[0], values);
    return index == 0 || index == 1;
  }

  void Write(const HostLaunch& launch) {
    std::vector<ChoiceOfPointers> choices;
    for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
      if (auto choice = ChoiceOf(launch, i)) choices.push_back(std::move(*choice));
    }
    if (choices.size() != 2) return;
    const auto same = IsSame(choices[0].condition, choices[1].condition);
    if (!same) return;
    if (!*same) std::swap(choices[1].yes, choices[1].no);
    const std::size_t first = program_.TokenAt(launch.range.begin), end = EndOfStatement(program_, first);
    const std::string_view before = first > 0 ? program_.Token(first - 1) : "";
    const bool alone = before == ";" || before == "{" || before == "}";
    if (!alone && before != ")" && before != "else") return;
    const SourceRange range = RangeOfTokens(program_, first, end);
    std::string text = fmt::format("if ({}) {{ {} }} else {{ {} }}", choices[0].condition, With(range, launch, choices, true),
                                   With(range, launch, choices, false));
    if (!alone) text = fmt::format("{{ {} }}", text);
    const std::string_view old = program_.Text(range);
    text.append(static_cast<std::size_t>(std::count(old.begin(), old.end(), '\n')), '\n');
    splices_.emplace_back(range, std::move(text));
  }

  std::string With(const SourceRange& range, const HostLaunch& launch, const std::vector<ChoiceOfPointers>& choices,
                   bool yes) const {
    std::string text(program_.Text(range));
    for (std::size_t i = choices.size(); i-- > 0;) {
      const SourceRange& argument = launch.arguments[choices[i].argument];
      text.replace(argument.begin - range.begin, argument.size(), yes ? choices[i].yes : choices[i].no);
    }
    std::replace(text.begin(), text.end(), '\n', ' ');
    return text;
  }

  const SourceProgram& program_;
  HostCalls calls_;
  Splices splices_;
};

}  // namespace

std::optional<std::string> WithoutPointerPairs(const SourceProgram& program) { return PairWriter(program).Run(); }

std::optional<std::string> WithChosenLaunches(const SourceProgram& program) { return ChoiceWriter(program).Run(); }

}  // namespace evo
