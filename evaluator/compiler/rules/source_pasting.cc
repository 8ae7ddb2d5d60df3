#include "evaluator/compiler/rules/source_pasting.h"

#include <algorithm>
#include <map>
#include <span>
#include <vector>

namespace evo {
namespace {

using Tokens = std::span<const SourceToken>;

bool IsWord(const SourceToken& token) { return token.kind == SourceTokenKind::kName || token.kind == SourceTokenKind::kNumber; }

// One #define. What looks like a list of parameters is taken for one, also where a blank makes it part of the text.
struct Macro {
  std::set<std::string, std::less<>> parameters;
  Tokens body;
  bool is_function = false;
};

Macro ReadMacro(Tokens tokens) {
  Macro macro;
  macro.body = tokens.subspan(1);
  macro.is_function = !macro.body.empty() && macro.body.front().text == "(";
  for (std::size_t i = 0; macro.is_function && i < macro.body.size(); ++i) {
    if (macro.body[i].text == ")") {
      macro.body = macro.body.subspan(i + 1);
      break;
    }
    if (IsWord(macro.body[i])) macro.parameters.insert(macro.body[i].text);
  }
  return macro;
}

class WordCollector {
 public:
  explicit WordCollector(const SourceTokens& source) : source_(source) {
    for (const SourceDirective& directive : source.directives) {
      if (directive.word == "define" && !directive.tokens.empty())
        macros_.emplace(directive.tokens.front().text, ReadMacro(directive.tokens));
    }
  }

  PastedWords Run() {
    bool pastes = false;
    for (const auto& [name, macro] : macros_) pastes |= AddOperands(macro);
    if (!pastes) return {};
    AddArguments(source_.code, {});
    for (const auto& [name, macro] : macros_) AddArguments(macro.body, macro.parameters);
    AddMeanings();
    return std::move(words_);
  }

 private:
  using Names = std::set<std::string, std::less<>>;

  void Add(const SourceToken& token, const Names& parameters) {
    if (IsWord(token) && !parameters.contains(token.text)) words_.insert(token.text);
  }

  bool AddOperands(const Macro& macro) {
    bool pastes = false;
    for (std::size_t i = 0; i < macro.body.size(); ++i) {
      if (macro.body[i].text != "##") continue;
      pastes = true;
      if (i > 0) Add(macro.body[i - 1], macro.parameters);
      if (i + 1 < macro.body.size()) Add(macro.body[i + 1], macro.parameters);
    }
    return pastes;
  }

  void AddArguments(Tokens tokens, const Names& parameters) {
    const auto is_function = [&](const SourceToken& token) {
      const auto [first, last] = macros_.equal_range(token.text);
      return std::any_of(first, last, [](const auto& entry) { return entry.second.is_function; });
    };
    int depth = 0;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (depth == 0 && !(is_function(tokens[i]) && i + 1 < tokens.size() && tokens[i + 1].text == "(")) continue;
      if (tokens[i].text == ")" && --depth == 0) continue;
      if (depth > 0) Add(tokens[i], parameters);
      if (depth == 0) ++i;
      if (tokens[i].text == "(") ++depth;
    }
  }

  // A macro that is passed on is replaced before it is joined.
  void AddMeanings() {
    for (std::vector<std::string> left(words_.begin(), words_.end()); !left.empty();) {
      const std::string word = left.back();
      left.pop_back();
      const auto [first, last] = macros_.equal_range(word);
      for (auto entry = first; entry != last; ++entry) {
        for (const SourceToken& token : entry->second.body) {
          if (IsWord(token) && words_.insert(token.text).second) left.push_back(token.text);
        }
      }
    }
  }

  const SourceTokens& source_;
  std::multimap<std::string, Macro, std::less<>> macros_;  // a name may be defined in several branches
  PastedWords words_;
};

}  // namespace

PastedWords FindPastedWords(const SourceTokens& tokens) { return WordCollector(tokens).Run(); }

bool CanBePasted(std::string_view name, const PastedWords& words, bool is_prefix) {
  std::vector<bool> reached(name.size() + 1, false);
  reached[0] = true;
  for (std::size_t at = 0; at < name.size(); ++at) {
    if (!reached[at]) continue;
    const std::string_view left = name.substr(at);
    for (const std::string& word : words) {
      if (at == 0 && word.size() >= left.size()) continue;  // one word is judged by itself
      const bool goes_beyond = is_prefix && std::string_view(word).starts_with(left);
      if (left.starts_with(word) || goes_beyond) reached[std::min(at + word.size(), name.size())] = true;
    }
  }
  return reached[name.size()];
}

}  // namespace evo
