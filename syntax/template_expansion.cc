#include "syntax/template_expansion.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "syntax/token.h"

namespace evo {
namespace {

struct TemplateParameter {
  std::string name;
  bool is_type = false;
};

struct FunctionTemplate {
  std::string name;
  std::vector<TemplateParameter> parameters;
  SourceRange head;   // `template <..>` and the white space after it
  SourceRange range;  // all of it
};

// A use `name<arguments>(`; without arguments, the template's are deduced.
struct TemplateUse {
  SourceRange angles;  // `<arguments>`
  std::vector<std::string> arguments;
  bool deduced = false;
};

class Templates {
 public:
  explicit Templates(const std::string& text) : text_(text), tokens_(Tokenize(text)) { Find(); }

  // The text with one template less; nullopt if none can be replaced.
  std::optional<std::string> WithOneLess() const {
    for (const FunctionTemplate& one : found_) {
      const auto uses = UsesOf(one);
      if (!uses || uses->empty()) continue;
      const auto& arguments = uses->front().arguments;
      const auto same = [&](const TemplateUse& use) { return use.arguments == arguments; };
      if (arguments.size() == one.parameters.size() && std::all_of(uses->begin(), uses->end(), same)) return Replaced(one, *uses);
    }
    return std::nullopt;
  }

 private:
  std::string_view Token(std::size_t at) const {
    return at < tokens_.size() ? std::string_view(text_).substr(tokens_[at].begin, tokens_[at].size()) : std::string_view();
  }
  static bool IsWord(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

  // The token after the one that closes what opens at a token.
  std::size_t Behind(std::size_t at, std::string_view open, std::string_view close) const {
    int depth = 0;
    for (; at < tokens_.size(); ++at) {
      depth += (Token(at) == open) - (Token(at) == close);
      if (depth == 0) return at + 1;
    }
    return at;
  }

  void Find() {
    int braces = 0;
    for (std::size_t at = 0; at < tokens_.size(); ++at) {
      braces += (Token(at) == "{") - (Token(at) == "}");
      if (braces == 0 && Token(at) == "template" && Token(at + 1) == "<") Add(at);
    }
  }

  void Add(std::size_t begin) {
    FunctionTemplate one;
    std::size_t at = begin + 2;
    std::vector<std::size_t> words;
    for (int depth = 1; depth > 0 && at < tokens_.size(); ++at) {
      const std::string_view token = Token(at);
      depth += (token == "<") - (token == ">");
      if (token == "=" || token == "..." || token == "template" || token == ">>") return;
      if ((token == "," && depth == 1) || depth == 0) {
        if (words.size() < 2) return;
        const std::string_view first = Token(words.front());
        one.parameters.push_back({std::string(Token(words.back())), first == "typename" || first == "class"});
        words.clear();
      } else {
        words.push_back(at);
      }
    }
    one.head = {tokens_[begin].begin, tokens_[std::min(at, tokens_.size() - 1)].begin};
    for (; at < tokens_.size() && Token(at) != "{"; ++at) {
      if (Token(at) == ";" || Token(at) == "struct" || Token(at) == "class" || Token(at) == "template") return;
      if (Token(at + 1) != "(" || !IsWord(Token(at).front())) continue;
      if (Token(at) != "__launch_bounds__" && Token(at) != "__attribute__" && one.name.empty()) one.name = Token(at);
      at = Behind(at + 1, "(", ")") - 1;
    }
    const std::size_t end = Behind(at, "{", "}");
    if (one.name.empty() || end == 0 || end > tokens_.size()) return;
    one.range = {tokens_[begin].begin, tokens_[end - 1].end};
    found_.push_back(one);
  }

  // The names of a template in code and in launch lines, but for its own. nullopt if one is not understood, or if it is
  // within another template, whose parameters it may name.
  std::optional<std::vector<TemplateUse>> UsesOf(const FunctionTemplate& one) const {
    const auto same_name = [&](const FunctionTemplate& other) { return other.name == one.name; };
    if (std::count_if(found_.begin(), found_.end(), same_name) != 1) return std::nullopt;
    std::vector<TemplateUse> uses;
    bool declared = false;
    for (std::size_t at = text_.find(one.name); at != std::string::npos; at = text_.find(one.name, at + 1)) {
      const std::size_t behind = at + one.name.size();
      if ((at > 0 && IsWord(text_[at - 1])) || (behind < text_.size() && IsWord(text_[behind]))) continue;
      const auto begins = [&](const SourceRange& token) { return token.begin == at; };
      const bool code = std::any_of(tokens_.begin(), tokens_.end(), begins);
      const std::size_t line = text_.rfind('\n', at) + 1;
      if (!code && text_.compare(line, 14, "// evo:launch ") != 0) continue;
      const SourceRange here{static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(behind)};
      if (code && !declared && one.range.Contains(here)) {
        declared = true;
        continue;
      }
      for (const FunctionTemplate& other : found_) {
        if (other.range.Contains(here)) return std::nullopt;
      }
      const auto use = UseAt(behind);
      if (!use) return std::nullopt;
      uses.push_back(*use);
    }
    return uses;
  }

  std::optional<TemplateUse> UseAt(std::size_t behind) const {
    TemplateUse use;
    if (behind >= text_.size() || text_[behind] != '<') return std::nullopt;
    int angles = 0, others = 0;
    std::size_t begin = behind + 1;
    for (std::size_t at = behind; at < text_.size() && text_[at] != ';' && text_[at] != '\n'; ++at) {
      const char c = text_[at];
      if (c == '(' || c == ')') others += c == '(' ? 1 : -1;
      if (others == 0 && (c == '<' || c == '>')) angles += c == '<' ? 1 : -1;
      if (others != 0 || !((angles == 1 && c == ',') || angles == 0)) continue;
      std::string argument = text_.substr(begin, at - begin);
      argument.erase(0, argument.find_first_not_of(' '));
      argument.erase(argument.find_last_not_of(' ') + 1);
      use.arguments.push_back(argument);
      begin = at + 1;
      if (angles > 0) continue;
      use.angles = {static_cast<std::uint32_t>(behind), static_cast<std::uint32_t>(at + 1)};
      return use;
    }
    return std::nullopt;
  }

  std::string Replaced(const FunctionTemplate& one, const std::vector<TemplateUse>& uses) const {
    std::string text = text_;
    std::vector<std::pair<SourceRange, std::string>> splices{{one.head, ""}};
    for (const TemplateUse& use : uses) splices.emplace_back(use.angles, "");
    for (std::size_t at = 0; at < tokens_.size(); ++at) {
      if (!one.range.Contains(tokens_[at]) || one.head.Contains(tokens_[at])) continue;
      if (at > 0 && (Token(at - 1) == "." || Token(at - 1) == "->" || Token(at - 1) == "::")) continue;
      for (std::size_t i = 0; i < one.parameters.size(); ++i) {
        if (Token(at) != one.parameters[i].name) continue;
        const std::string& argument = uses.front().arguments[i];
        const bool bare = one.parameters[i].is_type || Tokenize(argument).size() == 1;
        splices.emplace_back(tokens_[at], bare ? argument : "(" + argument + ")");
      }
    }
    std::sort(splices.begin(), splices.end(), [](const auto& a, const auto& b) { return a.first.begin > b.first.begin; });
    for (const auto& [range, by] : splices) text.replace(range.begin, range.size(), by);
    return text;
  }

  const std::string& text_;
  std::vector<SourceRange> tokens_;
  std::vector<FunctionTemplate> found_;
};

}  // namespace

std::string WithoutTemplates(std::string text) {
  while (auto less = Templates(text).WithOneLess()) text = std::move(*less);
  return text;
}

}  // namespace evo
