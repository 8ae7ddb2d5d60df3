#include "syntax/plain_text.h"

#include <set>
#include <string_view>

#include "syntax/macro_expansion.h"
#include "syntax/template_expansion.h"
#include "syntax/token.h"

namespace evo {

std::optional<std::string> PlainText(const std::string& text) {
  const MacroExpansion macros(text);
  std::string plain = macros.Expanded(text);
  if (plain.find("template") != std::string::npos) plain = WithoutTemplates(std::move(plain));
  if (plain == text) return std::nullopt;
  // Who looks for a new name finds those that the source has and that are gone.
  std::set<std::string_view> names;
  for (const SourceRange& range : Tokenize(text)) names.insert(std::string_view(text).substr(range.begin, range.size()));
  names.insert(macros.names().begin(), macros.names().end());
  for (const SourceRange& range : Tokenize(plain)) names.erase(std::string_view(plain).substr(range.begin, range.size()));
  std::string gone;
  for (const std::string_view name : names) {
    const char c = name.front();
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_') gone.append(" ").append(name);
  }
  if (!gone.empty()) plain += "// Names that are written out:" + gone + "\n";
  return plain;
}

}  // namespace evo
