#include "syntax/macro_expansion.h"

#include <algorithm>
#include <optional>

#include "syntax/token.h"

namespace evo {
namespace {

bool IsName(std::string_view token) {
  const char c = token.empty() ? '0' : token.front();
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(kBlanks);
  return begin == std::string_view::npos ? std::string_view() : text.substr(begin, text.find_last_not_of(kBlanks) + 1 - begin);
}

// Appends tokens, which must not become one with those before them: `-` and `-1`.
void Append(std::string& text, std::string_view more) {
  constexpr std::string_view kJoining = "+-&|<>=*/%^!:#";
  const auto word = [](char c) { return IsName({&c, 1}) || (c >= '0' && c <= '9') || c == '.'; };
  if (!text.empty() && !more.empty()) {
    const char last = text.back(), next = more.front();
    const bool punctuators = kJoining.find(last) != std::string_view::npos && kJoining.find(next) != std::string_view::npos;
    if (punctuators || (word(last) && word(next))) text += ' ';
  }
  text += more;
}

struct Directive {
  std::string text;  // continued lines joined, without `#` and comments
  std::size_t begin = 0, end = 0;
};

std::vector<Directive> DirectivesOf(const std::string& text) {
  std::vector<Directive> directives;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    std::size_t end = text.find('\n', at);
    std::string line = text.substr(at, end - at);
    while (end != std::string::npos && line.ends_with('\\')) {
      const std::size_t next = text.find('\n', end + 1);
      line.back() = ' ';
      line += text.substr(end + 1, next == std::string::npos ? next : next - end - 1);
      end = next;
    }
    at = end == std::string::npos ? text.size() : end + 1;
    std::string_view directive = Trimmed(line);
    if (!directive.starts_with('#')) continue;
    directive = Trimmed(directive.substr(1));
    directives.push_back({std::string(Trimmed(directive.substr(0, directive.find("//")))), begin, at});
  }
  return directives;
}

// The arguments of a call whose `(` is a token, and the token after its `)`.
std::optional<std::pair<std::vector<std::string_view>, std::size_t>> ArgumentsOf(std::string_view text,
                                                                                 const std::vector<SourceRange>& tokens,
                                                                                 std::size_t open) {
  std::vector<std::string_view> arguments;
  int depth = 0;
  std::uint32_t begin = tokens[open].end;
  for (std::size_t at = open; at < tokens.size(); ++at) {
    const std::string_view token = text.substr(tokens[at].begin, tokens[at].size());
    depth += (token == "(") - (token == ")");
    const bool closes = depth == 0;
    if (!closes && !(depth == 1 && token == ",")) continue;
    arguments.push_back(Trimmed(text.substr(begin, tokens[at].begin - begin)));
    begin = tokens[at].end;
    if (closes) return std::pair(arguments, at + 1);
  }
  return std::nullopt;
}

bool IsNamed(std::string_view text, std::string_view name) {
  const auto tokens = Tokenize(text);
  return std::any_of(tokens.begin(), tokens.end(),
                     [&](const SourceRange& range) { return text.substr(range.begin, range.size()) == name; });
}

}  // namespace

MacroExpansion::MacroExpansion(const std::string& text) {
  int depth = 0;
  std::set<std::string, std::less<>> excluded;
  for (const auto& [directive, begin, end] : DirectivesOf(text)) {
    if (directive.starts_with("if")) ++depth;
    if (directive.starts_with("endif")) --depth;
    const bool defines = directive.starts_with("define"), removes = directive.starts_with("undef");
    if (!defines && !removes) continue;
    const std::string_view rest = Trimmed(std::string_view(directive).substr(defines ? 6 : 5));
    const auto tokens = Tokenize(rest);
    if (tokens.empty()) continue;
    const std::string name(rest.substr(0, tokens.front().end));
    // Such as macros of one function, which are gone behind it.
    if (removes && depth == 0 && names_.contains(name) && !IsNamed(std::string_view(text).substr(end), name)) continue;
    if (removes || depth > 0 || !names_.insert(name).second) excluded.insert(name);
    names_.insert(name);
    if (defines) AddDefinition(rest);
  }
  for (const std::string& name : excluded) macros_.erase(name);
  std::erase_if(macros_, [&](const auto& macro) { return !IsWrittenOut(macro.second); });
}

void MacroExpansion::AddDefinition(std::string_view line) {
  const auto tokens = Tokenize(line);
  const std::string name(line.substr(0, tokens.front().end));
  Macro macro;
  std::size_t body = tokens.front().end;
  if (body < line.size() && line[body] == '(') {
    const auto parameters = ArgumentsOf(line, tokens, 1);
    if (!parameters) return;
    macro.has_arguments = true;
    for (const std::string_view parameter : parameters->first) {
      if (!parameter.empty()) macro.parameters.emplace_back(parameter);
    }
    body = tokens[parameters->second - 1].end;
  }
  macro.body = Trimmed(line.substr(body));
  macros_[name] = std::move(macro);
}

bool MacroExpansion::IsWrittenOut(const Macro& macro) const {
  if (macro.body.empty() || macro.body.find('#') != std::string::npos) return false;
  if (std::any_of(macro.parameters.begin(), macro.parameters.end(), [](const auto& p) { return !IsName(p); })) return false;
  if (macro.has_arguments) return true;
  const auto tokens = Tokenize(macro.body);
  return tokens.size() > 1 && std::any_of(tokens.begin(), tokens.end(), [&](const SourceRange& range) {
           const std::string_view token = std::string_view(macro.body).substr(range.begin, range.size());
           const bool real = token.front() >= '0' && token.front() <= '9' && !token.starts_with("0x") &&
                             token.find_first_of(".fFeE") != std::string_view::npos;
           return real || (IsName(token) && !names_.contains(token));
         });
}

std::string MacroExpansion::WithoutDefinitions(std::string text) const {
  std::map<std::string, int, std::less<>> named;
  const auto add = [&](std::string_view part) {
    for (const SourceRange& range : Tokenize(part)) ++named[std::string(part.substr(range.begin, range.size()))];
  };
  add(text);
  auto directives = DirectivesOf(text);
  for (const Directive& directive : directives) add(directive.text);
  std::reverse(directives.begin(), directives.end());
  for (const Directive& directive : directives) {
    const auto tokens = Tokenize(directive.text);
    if (tokens.size() < 2 || !directive.text.starts_with("define")) continue;
    const std::string name = directive.text.substr(tokens[1].begin, tokens[1].size());
    if (macros_.contains(name) && named[name] == 1) text.erase(directive.begin, directive.end - directive.begin);
  }
  return text;
}

std::string MacroExpansion::Expand(std::string_view text, const std::set<std::string, std::less<>>& disabled) const {
  const auto tokens = Tokenize(text);
  std::string result;
  std::size_t copied = 0;
  for (std::size_t at = 0; at < tokens.size(); ++at) {
    const std::string_view token = text.substr(tokens[at].begin, tokens[at].size());
    const auto found = IsName(token) && !disabled.contains(token) ? macros_.find(token) : macros_.end();
    if (found == macros_.end()) continue;
    const Macro& macro = found->second;
    std::size_t end = at + 1;
    std::vector<std::string> arguments;
    if (macro.has_arguments) {
      if (end >= tokens.size() || text[tokens[end].begin] != '(') continue;
      const auto call = ArgumentsOf(text, tokens, end);
      const bool none = macro.parameters.empty() && call && call->first.size() == 1 && call->first.front().empty();
      if (!call || (call->first.size() != macro.parameters.size() && !none)) continue;
      for (const std::string_view argument : call->first) arguments.push_back(Expand(argument, disabled));
      end = call->second;
    }
    auto inner = disabled;
    inner.emplace(token);
    Append(result, text.substr(copied, tokens[at].begin - copied));
    std::string expansion = Expand(Substituted(macro, arguments), inner);
    // An index needs no parentheses.
    const bool index = at > 0 && text[tokens[at - 1].begin] == '[' && end < tokens.size() && text[tokens[end].begin] == ']';
    const auto parts = Tokenize(expansion);
    const auto whole = parts.empty() || expansion[parts.front().begin] != '(' ? std::nullopt : ArgumentsOf(expansion, parts, 0);
    if (index && whole && whole->second == parts.size() && whole->first.size() == 1) expansion = whole->first.front();
    Append(result, expansion);
    copied = tokens[end - 1].end;
    at = end - 1;
  }
  Append(result, text.substr(copied));
  return result;
}

std::string MacroExpansion::Substituted(const Macro& macro, const std::vector<std::string>& arguments) const {
  std::string result;
  const std::string_view body = macro.body;
  const auto tokens = Tokenize(body);
  const auto is = [&](std::size_t at, char c) {
    return at < tokens.size() && tokens[at].size() == 1 && body[tokens[at].begin] == c;
  };
  std::size_t copied = 0;
  for (std::size_t at = 0; at < tokens.size(); ++at) {
    const std::string_view token = body.substr(tokens[at].begin, tokens[at].size());
    const auto found = std::find(macro.parameters.begin(), macro.parameters.end(), token);
    if (found == macro.parameters.end()) continue;
    const std::string& argument = arguments[static_cast<std::size_t>(found - macro.parameters.begin())];
    // `(x)` for a name or a number needs no parentheses, unless they follow a name and are those of a call.
    const bool call = at >= 2 && IsName(body.substr(tokens[at - 2].begin, tokens[at - 2].size()));
    const bool bare = Tokenize(argument).size() == 1 && at > 0 && is(at - 1, '(') && is(at + 1, ')') && !call;
    Append(result, body.substr(copied, (bare ? tokens[at - 1].begin : tokens[at].begin) - copied));
    Append(result, argument);
    copied = bare ? tokens[at + 1].end : tokens[at].end;
  }
  Append(result, body.substr(copied));
  return result;
}

}  // namespace evo
