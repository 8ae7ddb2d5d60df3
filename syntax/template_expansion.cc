#include "syntax/template_expansion.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "syntax/token.h"

namespace evo {
namespace {

// No template becomes more functions than this.
constexpr std::size_t kMostLists = 8;

struct TemplateParameter {
  std::string name;
  bool is_type = false;
  std::string by_default;  // empty if there is none
};

struct FunctionTemplate {
  std::string name;
  std::vector<TemplateParameter> parameters;
  SourceRange head;   // `template <..>` and the white space after it
  SourceRange range;  // all of it
  std::uint32_t body = 0;
};

// A use `name<arguments>(`.
struct TemplateUse {
  SourceRange name;
  SourceRange angles;  // `<arguments>`
  std::vector<std::string> arguments;
};

using Splices = std::vector<std::pair<SourceRange, std::string>>;

// Adds the arguments that are left to their defaults. False if some are missing.
bool Complete(const FunctionTemplate& one, std::vector<TemplateUse>& uses) {
  for (TemplateUse& use : uses) {
    for (std::size_t i = use.arguments.size(); i < one.parameters.size(); ++i) {
      if (one.parameters[i].by_default.empty()) return false;
      use.arguments.push_back(one.parameters[i].by_default);
    }
    if (use.arguments.size() != one.parameters.size()) return false;
  }
  return true;
}

class Templates {
 public:
  explicit Templates(const std::string& text) : text_(text), tokens_(Tokenize(text)) { Find(); }

  // The text with one template less; nullopt if none can be replaced.
  std::optional<std::string> WithOneLess() const {
    for (const FunctionTemplate& one : found_) {
      auto uses = UsesOf(one);
      if (!uses || uses->empty() || !Complete(one, *uses)) continue;
      std::set<std::vector<std::string>> lists;
      for (const TemplateUse& use : *uses) lists.insert(use.arguments);
      if (lists.size() == 1) return Replaced(one, *uses);
      if (lists.size() <= kMostLists) return Divided(one, *uses);
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

  // Whether a brace opens what functions of the file stand in: `namespace a {`, `namespace {`, `extern "C" {`.
  bool OpensNamespace(std::size_t brace) const {
    if (brace == 0) return false;
    if (Token(brace - 1) == "namespace" || Token(brace - 1) == "\"C\"") return true;
    std::size_t at = brace - 1;
    while (at >= 2 && Token(at - 1) == "::") at -= 2;
    return at > 0 && IsWord(Token(at).front()) && Token(at - 1) == "namespace";
  }

  void Find() {
    std::vector<bool> within;  // whether each open brace is that of a function or a class
    for (std::size_t at = 0; at < tokens_.size(); ++at) {
      if (Token(at) == "{") within.push_back(!OpensNamespace(at));
      if (Token(at) == "}" && !within.empty()) within.pop_back();
      const bool outside = std::find(within.begin(), within.end(), true) == within.end();
      if (outside && Token(at) == "template" && Token(at + 1) == "<") Add(at);
    }
  }

  void Add(std::size_t begin) {
    FunctionTemplate one;
    std::size_t at = begin + 2;
    std::vector<std::size_t> words;
    for (int depth = 1; depth > 0 && at < tokens_.size(); ++at) {
      const std::string_view token = Token(at);
      depth += (token == "<") - (token == ">");
      if (token == "..." || token == "template" || token == ">>") return;
      if ((token == "," && depth == 1) || depth == 0) {
        const auto equals = std::find_if(words.begin(), words.end(), [&](std::size_t word) { return Token(word) == "="; });
        if (equals - words.begin() < 2 || equals + 1 == words.end()) return;
        const std::string_view first = Token(words.front());
        one.parameters.push_back({std::string(Token(*(equals - 1))), first == "typename" || first == "class", ""});
        if (equals != words.end()) {
          const SourceRange& first_of = tokens_[*(equals + 1)];
          one.parameters.back().by_default = text_.substr(first_of.begin, tokens_[words.back()].end - first_of.begin);
        }
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
    one.body = tokens_[at].begin;
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
      auto use = UseAt(behind);
      if (!use && IsCallWithDefaults(one, here, code)) use = TemplateUse{here, {here.end, here.end}, {}};
      if (!use) return std::nullopt;
      uses.push_back(*use);
      uses.back().name = here;
    }
    return uses;
  }

  // `name(..)` of a template whose parameters are numbers with defaults, which is no declaration of it.
  bool IsCallWithDefaults(const FunctionTemplate& one, const SourceRange& name, bool code) const {
    const bool defaults = std::all_of(one.parameters.begin(), one.parameters.end(), [](const TemplateParameter& parameter) {
      return !parameter.is_type && !parameter.by_default.empty();
    });
    if (!defaults || text_.compare(name.end, 1, "(") != 0) return false;
    if (!code) return true;
    const auto at =
        std::find_if(tokens_.begin(), tokens_.end(), [&](const SourceRange& token) { return token.begin == name.begin; });
    const std::string_view before = at == tokens_.begin() ? "" : Token(static_cast<std::size_t>(at - tokens_.begin()) - 1);
    const bool of_type = !before.empty() && (IsWord(before.back()) || before == "*" || before == "&" || before == ">");
    return !of_type || before == "return" || before == "else";
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

  // `T{}` of a number is `(int)0`, and `T(x)` a cast where the type has several words, since `long long(x)` is no expression.
  bool SubstituteCast(std::size_t at, const std::string& type, Splices& splices) const {
    constexpr std::array kNumbers{"float", "double", "int", "unsigned", "long", "short", "char", "signed", "bool"};
    const auto words = Tokenize(type);
    const bool number = !words.empty() && std::all_of(words.begin(), words.end(), [&](const SourceRange& word) {
      return std::find(kNumbers.begin(), kNumbers.end(), type.substr(word.begin, word.size())) != kNumbers.end();
    });
    if (!number || (at > 0 && Token(at - 1) == "operator")) return false;
    if (Token(at + 1) == "{" && Token(at + 2) == "}") {
      splices.emplace_back(SourceRange{tokens_[at].begin, tokens_[at + 2].end}, "(" + type + ")0");
      return true;
    }
    const bool cast = Token(at + 1) == "(" && Token(at + 2) != "*" && Token(at + 2) != "&" && Token(at + 2) != ")";
    if (!cast || words.size() == 1) return false;
    splices.emplace_back(tokens_[at], "(" + type + ")");
    return true;
  }

  // What a list of arguments changes in a template.
  void Substitute(const FunctionTemplate& one, const std::vector<std::string>& arguments, Splices& splices) const {
    for (std::size_t at = 0; at < tokens_.size(); ++at) {
      if (!one.range.Contains(tokens_[at]) || one.head.Contains(tokens_[at])) continue;
      if (at > 0 && (Token(at - 1) == "." || Token(at - 1) == "->" || Token(at - 1) == "::")) continue;
      for (std::size_t i = 0; i < one.parameters.size(); ++i) {
        if (Token(at) != one.parameters[i].name) continue;
        const bool bare = one.parameters[i].is_type || Tokenize(arguments[i]).size() == 1;
        if (one.parameters[i].is_type && SubstituteCast(at, arguments[i], splices)) break;
        splices.emplace_back(tokens_[at], bare ? arguments[i] : "(" + arguments[i] + ")");
      }
    }
  }

  static std::string Spliced(std::string text, std::uint32_t offset, Splices splices) {
    std::sort(splices.begin(), splices.end(), [](const auto& a, const auto& b) { return a.first.begin > b.first.begin; });
    for (const auto& [range, by] : splices) text.replace(range.begin - offset, range.size(), by);
    return text;
  }

  std::string Replaced(const FunctionTemplate& one, const std::vector<TemplateUse>& uses) const {
    Splices splices{{one.head, ""}};
    for (const TemplateUse& use : uses) splices.emplace_back(use.angles, "");
    Substitute(one, uses.front().arguments, splices);
    return Spliced(text_, 0, std::move(splices));
  }

  // `sum_float_128` for `sum<float, 128>`: a name that the text does not have.
  std::string NameFor(const FunctionTemplate& one, const std::vector<std::string>& arguments) const {
    std::string name = one.name;
    for (const std::string& argument : arguments) {
      name += '_';
      for (const char c : argument) {
        if (IsWord(c) || (c == '<' && name.back() != '_')) name += IsWord(c) ? c : '_';
      }
    }
    while (text_.find(name) != std::string::npos) name += '_';
    return name;
  }

  // The template is declared only, and a function for each list of arguments follows it.
  std::string Divided(const FunctionTemplate& one, const std::vector<TemplateUse>& uses) const {
    std::map<std::vector<std::string>, std::string> names;
    Splices splices;
    for (const TemplateUse& use : uses) {
      const std::string& name = names.try_emplace(use.arguments, NameFor(one, use.arguments)).first->second;
      splices.emplace_back(SourceRange{use.name.begin, use.angles.end}, name);
    }
    std::string functions = ";\n";
    const SourceRange function{one.head.end, one.range.end};
    for (const auto& [arguments, name] : names) {
      Splices of_list;
      Substitute(one, arguments, of_list);
      const auto token = std::find_if(tokens_.begin(), tokens_.end(), [&](const SourceRange& at) {
        return function.Contains(at) && std::string_view(text_).substr(at.begin, at.size()) == one.name;
      });
      of_list.emplace_back(*token, name);
      functions += "\n" + Spliced(text_.substr(function.begin, function.size()), function.begin, std::move(of_list)) + "\n";
    }
    splices.emplace_back(SourceRange{one.body, one.range.end}, functions);
    return Spliced(text_, 0, std::move(splices));
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
