#include "mutators/analysis/source/deciding_parameters.h"

#include <cctype>
#include <cstdint>
#include <set>
#include <string_view>
#include <vector>

#include "kernel_templates/directive_lexer.h"

namespace evo {
namespace {

void AddIdentifiers(std::string_view text, std::set<std::string>& names) {
  const auto belongs = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t first = at;
    while (at < text.size() && belongs(text[at])) ++at;
    if (at > first)
      names.emplace(text.substr(first, at - first));
    else
      ++at;
  }
}

}  // namespace

Parameters DecidingParameters(const std::string& text, const Parameters& parameters) {
  return DecidingParameters(text, parameters, {0, static_cast<std::uint32_t>(text.size())});
}

Parameters DecidingParameters(const std::string& text, const Parameters& parameters, const SourceRange& part) {
  std::set<std::string> names;
  std::vector<std::string_view> definitions;
  const std::vector<SourceLine> lines = SplitLines(text);
  for (const SourceLine& line : lines) {
    std::string_view word = Trim(line.text);
    if (!word.starts_with('#')) continue;
    word = Trim(word.substr(1));
    const bool within = line.begin >= part.begin && line.begin < part.end;
    const bool condition =
        within && (word.starts_with("if ") || word.starts_with("if(") || word.starts_with("ifdef") || word.starts_with("elif"));
    if (condition && word.ends_with('\\')) return parameters;  // the condition goes on in the next line: assume that it names all
    if (condition) AddIdentifiers(word, names);
    if (word.starts_with("define ")) definitions.push_back(word.substr(7));
  }
  if (names.empty()) return {};
  for (std::size_t before = 0; before != names.size();) {
    before = names.size();
    for (const std::string_view definition : definitions) {
      const std::string name(definition.substr(0, definition.find_first_of(" \t(")));
      if (names.contains(name)) AddIdentifiers(definition, names);
    }
  }
  Parameters deciding;
  for (const auto& [name, value] : parameters) {
    if (names.contains(name)) deciding[name] = value;
  }
  return deciding;
}

}  // namespace evo
