#include "import/preprocessor.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "import/host_expression.h"
#include "import/source_program.h"
#include "kernel_templates/directive_lexer.h"

namespace evo {
namespace {

constexpr int kMostMacros = 8;  // of macros that stand for one another

struct Group {
  std::size_t line = 0;
  bool outer = true;   // the group itself is active
  bool taken = false;  // a branch whose condition holds has begun
  bool decided = true;
};

class LineReader {
 public:
  explicit LineReader(std::string_view text) : lines_(SplitLines(text)), result_(lines_.size()) {}

  std::vector<PreprocessedLine> Run() {
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      result_[i].active = active_;
      const std::string_view line = Trim(lines_[i].text);
      if (!line.starts_with('#')) continue;
      const std::string_view rest = Trim(line.substr(1));
      std::size_t end = 0;
      while (end < rest.size() && std::isalpha(static_cast<unsigned char>(rest[end])) != 0) ++end;
      Directive(i, rest.substr(0, end), rest.substr(end));
    }
    return std::move(result_);
  }

 private:
  void Directive(std::size_t line, std::string_view word, std::string_view rest) {
    if (word == "if" || word == "ifdef" || word == "ifndef") {
      groups_.push_back({line, active_, false, true});
      Branch(word == "if" ? Condition(rest) : Defined(rest, word == "ifdef"));
    } else if ((word == "elif" || word == "else") && !groups_.empty()) {
      Branch(word == "elif" ? Condition(rest) : std::optional(true));
    } else if (word == "endif" && !groups_.empty()) {
      result_[groups_.back().line].decided = groups_.back().decided;
      active_ = groups_.back().outer;
      groups_.pop_back();
    } else if (word == "define" && active_) {
      const auto tokens = SpelledTokens(rest);
      if (!tokens.empty()) macros_[std::string(tokens[0])] = {tokens.begin() + 1, tokens.end()};
    } else if (word == "undef" && active_) {
      macros_.erase(std::string(Trim(rest)));
    }
  }

  void Branch(std::optional<bool> condition) {
    Group& group = groups_.back();
    group.decided = group.decided && condition.has_value();
    active_ = group.outer && !group.taken && condition.value_or(true);
    if (active_ && condition) group.taken = true;
  }

  // Macros that only the compiler defines, or does not: with and without them the text may be compiled.
  static std::optional<bool> OfCompiler(std::string_view name) {
    if (name == "__CUDACC__" || name == "__cplusplus" || name == "__NVCC__") return true;
    if (name.starts_with("__HIP") || !name.starts_with("__")) {
      if (name == "CUDART_VERSION" || name == "CUDA_VERSION" || name == "NDEBUG") return std::nullopt;
      return false;
    }
    return std::nullopt;
  }

  std::optional<bool> IsDefined(std::string_view name) const {
    return macros_.contains(std::string(name)) ? std::optional(true) : OfCompiler(name);
  }

  std::optional<bool> Defined(std::string_view rest, bool wanted) const {
    const auto tokens = SpelledTokens(rest);
    if (tokens.empty()) return std::nullopt;
    const auto defined = IsDefined(tokens[0]);
    return defined ? std::optional(*defined == wanted) : std::nullopt;
  }

  std::optional<bool> Condition(std::string_view rest) const {
    std::vector<std::string> words;
    if (!Expand(SpelledTokens(rest), words, 0)) return std::nullopt;
    const auto value = ValueOf(Simplified(ParseHostExpression({words.begin(), words.end()})), {});
    return value ? std::optional(value->AsReal() != 0) : std::nullopt;
  }

  // The tokens with macros replaced, and `defined(X)` and names without a meaning as numbers. False: not decided.
  bool Expand(const std::vector<std::string_view>& tokens, std::vector<std::string>& words, int depth) const {
    if (depth > kMostMacros) return false;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      const std::string_view token = tokens[i];
      if (token == "defined") {
        const bool bracket = i + 1 < tokens.size() && tokens[i + 1] == "(";
        const std::size_t name = i + (bracket ? 2 : 1);
        if (name >= tokens.size()) return false;
        const auto defined = IsDefined(tokens[name]);
        if (!defined) return false;
        words.emplace_back(*defined ? "1" : "0");
        i = name + (bracket ? 1 : 0);
      } else if (std::isalpha(static_cast<unsigned char>(token[0])) != 0 || token[0] == '_') {
        const auto macro = macros_.find(std::string(token));
        if (macro != macros_.end()) {
          if (!Expand({macro->second.begin(), macro->second.end()}, words, depth + 1)) return false;
        } else if (OfCompiler(token) == std::optional(false)) {
          words.emplace_back("0");
        } else {
          return false;
        }
      } else {
        words.emplace_back(token);
      }
    }
    return true;
  }

  std::vector<SourceLine> lines_;
  std::vector<PreprocessedLine> result_;
  std::vector<Group> groups_;
  std::map<std::string, std::vector<std::string>> macros_;
  bool active_ = true;
};

}  // namespace

std::vector<PreprocessedLine> PreprocessedLines(std::string_view text) { return LineReader(text).Run(); }

}  // namespace evo
