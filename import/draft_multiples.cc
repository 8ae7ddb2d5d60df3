// What values of sizes the kernels are right for.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "import/draft_names.h"
#include "import/step_kernels.h"

namespace evo {
namespace {

// The name and the multiple of ceil_div(name, multiple) * multiple.
std::optional<std::pair<std::string, HostExpression>> PaddedSize(const HostExpression& product) {
  if (product.kind != HostExpression::Kind::kBinary || !product.Is("*")) return std::nullopt;
  for (const std::size_t side : {0, 1}) {
    const HostExpression &quotient = product.parts[side], &multiple = product.parts[1 - side];
    if (quotient.kind != HostExpression::Kind::kCall || !quotient.Is("ceil_div") || quotient.parts.size() != 2) continue;
    const bool plain = multiple.kind == HostExpression::Kind::kName || multiple.kind == HostExpression::Kind::kNumber;
    if (plain && quotient.parts[0].kind == HostExpression::Kind::kName && quotient.parts[1].Text() == multiple.Text())
      return std::pair(quotient.parts[0].text, multiple);
  }
  return std::nullopt;
}

// `ceil_div(n, tile)` or `n / tile`, alone: what is compared with it guards no element.
bool IsCountOfTiles(const HostExpression& value) {
  const bool quotient = (value.kind == HostExpression::Kind::kCall && value.Is("ceil_div")) ||
                        (value.kind == HostExpression::Kind::kBinary && value.Is("/"));
  return quotient && value.parts.size() == 2 && value.parts[0].kind == HostExpression::Kind::kName;
}

// Whether the counter of a loop is multiplied or divided: `for (d = 1; d < n; d *= 2)`. From the bracket on.
bool IsGeometric(const SourceProgram& program, std::size_t open) {
  const std::size_t end = program.AfterBracket(open);
  std::size_t step = end - 1;
  while (step > open && program.Token(step) != ";") --step;
  for (std::size_t at = step; at < end; ++at) {
    const std::string_view token = program.Token(at);
    if (token == "*=" || token == "/=" || token == "<<=" || token == ">>=" || token == "*" || token == "/" || token == "<<" ||
        token == ">>")
      return true;
  }
  return false;
}

}  // namespace

bool IsTakenByThreads(const SourceProgram& program, const HostCode& host, const std::vector<TakenLaunch>& launches,
                      const std::string& label, std::int64_t value) {
  constexpr double kMostOfThread = 4;
  for (const TakenLaunch& one : launches) {
    double threads = 1;
    for (const auto* dimensions : {&one.grid, &one.block}) {
      for (const HostExpression& dimension : *dimensions) {
        const auto names = dimension.Names();
        const auto number = ValueOf(dimension, host.Values());
        if (!number || std::find(names.begin(), names.end(), label) != names.end()) return false;
        threads *= number->AsReal();
      }
    }
    if (static_cast<double>(value) < threads || static_cast<double>(value) > kMostOfThread * threads) return false;
    const std::size_t end = program.TokenAt(one.kernel->body.end);
    for (std::size_t at = program.TokenAt(one.kernel->body.begin); at < end; ++at) {
      const int called = program.Token(at + 1) == "(" ? program.FindFunction(program.Token(at)) : -1;
      if (program.Token(at) == "while" || program.Token(at) == "do" || called >= 0) return false;
      if (program.Token(at) == "for" && !IsGeometric(program, at + 1)) return false;
    }
  }
  return !launches.empty();
}

// Whether a word stands for something that mentions the name, through macros.
bool DraftNames::Mentions(std::string_view word, const std::string& name, int depth) const {
  if (word == name) return true;
  const ProgramMacro* macro = program_.FindMacro(word);
  if (macro == nullptr || depth > 4) return false;
  const auto tokens = SpelledTokens(macro->body);
  return std::any_of(tokens.begin(), tokens.end(),
                     [&](std::string_view token) { return token != word && Mentions(token, name, depth + 1); });
}

// Whether a kernel with barriers divides a size without rounding up, as in a loop over whole tiles.
bool DraftNames::IsDividedAmongTurns(const TakenLaunch& one, const std::string& label) const {
  const auto tokens = program_.Tokens(one.kernel->body);
  if (std::find(tokens.begin(), tokens.end(), "__syncthreads") == tokens.end()) return false;
  const auto stands_for_it = [&](std::string_view name) {
    const auto value = one.values.find(std::string(name));
    return name == label || (value != one.values.end() && value->second.Text() == label);
  };
  for (std::size_t i = 1; i + 1 < tokens.size(); ++i) {
    if (tokens[i + 1] == "/" && tokens[i - 1] != "*" && tokens[i - 1] != "/" && stands_for_it(tokens[i])) return true;
  }
  return false;
}

// Whether the kernels compare what the size is passed as, or the size itself; a grid that divides it without rounding up says
// that they do not mean other values.
bool DraftNames::IsRagged(const std::string& label) const {
  bool compared = false;
  for (const TakenLaunch& one : launches_) {
    if (IsStepKernel(one.kernel->name)) continue;  // which take any number of elements
    if (IsDividedAmongTurns(one, label)) return false;
    for (const HostExpression& dimension : one.grid) {
      bool divided = false;
      Replaced(dimension, [&](const HostExpression& part) -> std::optional<HostExpression> {
        const auto names = part.Names();
        const bool has = std::find(names.begin(), names.end(), label) != names.end();
        if (part.kind == HostExpression::Kind::kBinary && part.Is("/") && has) divided = true;
        return std::nullopt;
      });
      if (divided) return false;
    }
    for (const auto& [name, value] : one.values) {
      const auto names = value.Names();
      if (std::find(names.begin(), names.end(), label) == names.end() || IsCountOfTiles(value)) continue;
      const auto use = one.use.parameters.find(name);
      if (use != one.use.parameters.end() && use->second.guarded) compared = true;
    }
    const auto tokens = program_.Tokens(one.kernel->body);
    for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
      if (tokens[i] != "if" && tokens[i] != "for" && tokens[i] != "while") continue;
      for (std::size_t j = i + 2; j < tokens.size() && tokens[j] != "{" && tokens[j] != ";"; ++j)
        compared = compared || (tokens[i] == "if" && Mentions(tokens[j], label, 0));
    }
  }
  return compared;
}

// What values in cases must be multiples of: what the program asserts, and a power of two if the kernels compare nothing.
std::int64_t DraftNames::Multiple(const std::string& label, std::int64_t value) const {
  std::int64_t multiple = 1;
  const bool ragged = IsRagged(label);
  if (!ragged) {
    multiple = kUnguardedMultiple;
    while (multiple > 1 && value % multiple != 0) multiple /= 2;
  }
  // Of `N / BLOCK` blocks there has to be one, and blocks that compare nothing with N take all of their elements.
  for (const TakenLaunch& one : launches_) {
    if (IsStepKernel(one.kernel->name)) continue;
    std::vector<HostExpression> counts = one.grid;
    for (const auto& [name, given] : one.values) {
      if (IsCountOfTiles(given)) counts.push_back(given);
    }
    for (const HostExpression& count : counts) {
      Replaced(count, [&](const HostExpression& part) -> std::optional<HostExpression> {
        const bool quotient = part.kind == HostExpression::Kind::kBinary && part.Is("/");
        const bool rounded_up = !ragged && part.kind == HostExpression::Kind::kCall && part.Is("ceil_div");
        if ((!quotient && !rounded_up) || part.parts.size() != 2 || part.parts[0].Text() != label) return std::nullopt;
        const auto divisor = ValueOf(part.parts[1], host_.Values());
        if (divisor && !divisor->is_real && divisor->integer > 0 && value % divisor->integer == 0)
          multiple = std::lcm(multiple, divisor->integer);
        return std::nullopt;
      });
    }
  }
  for (const TakenLaunch& one : launches_) {
    if (one.launch == nullptr) continue;
    for (const SourceRange& range : one.use.assertions) {
      const HostExpression assertion = host_.Resolve(range, one.launch->function);
      if (assertion.kind != HostExpression::Kind::kBinary || !assertion.Is("==") ||
          assertion.parts[0].kind != HostExpression::Kind::kBinary || !assertion.parts[0].Is("%"))
        continue;
      if (assertion.parts[0].parts[0].Text() != label) continue;
      const auto divisor = ValueOf(assertion.parts[0].parts[1], host_.Values());
      if (divisor && !divisor->is_real && divisor->integer > 0) multiple = std::lcm(multiple, divisor->integer);
    }
  }
  return multiple;
}

HostExpression DraftNames::Unpadded(const HostExpression& expression) const {
  return Replaced(expression, [&](const HostExpression& part) -> std::optional<HostExpression> {
    const auto rounded = PaddedSize(part);
    return rounded && padded_.contains(rounded->first) ? std::optional(HostExpression::Name(rounded->first)) : std::nullopt;
  });
}

// Sizes that a launch passes rounded up to a multiple that is the same in every case.
void DraftNames::FindPadded(TaskDraft& draft) {
  const auto look = [&](const HostExpression& part) -> std::optional<HostExpression> {
    const auto rounded = PaddedSize(part);
    if (!rounded) return std::nullopt;
    const auto constant = constants_.find(rounded->second.text);
    std::optional<std::int64_t> multiple;
    if (rounded->second.kind == HostExpression::Kind::kNumber) multiple = rounded->second.number.integer;
    if (constant != constants_.end()) multiple = constant->second;
    if (!multiple || *multiple < 2) return std::nullopt;
    std::int64_t& known = padded_.try_emplace(rounded->first, 1).first->second;
    if (known == 1)
      draft.notes.push_back(fmt::format("{} is a multiple of {}: the host rounds it up", rounded->first, *multiple));
    known = std::lcm(known, *multiple);
    return std::nullopt;
  };
  for (const TakenLaunch& one : launches_) {
    for (const auto& [name, value] : one.values) Replaced(value, look);
  }
}

}  // namespace evo
