#include "kernel_templates/parameter_use.h"

#include <string>

#include "kernel_templates/brought_parameters.h"
#include "kernel_templates/directive_lexer.h"

namespace evo {
namespace {

// Bounds how many constants are followed, each made of the one before.
constexpr int kConstants = 4;

bool Declares(std::string_view line, std::string_view name) {
  if (line.starts_with("// evo:param") || line.starts_with("// evo:constraint")) return true;
  if (!line.starts_with('#')) return false;
  const std::string_view words = Trim(line.substr(1));
  return words.starts_with(std::string("ifndef ").append(name)) || words.starts_with(std::string("define ").append(name));
}

// `kUnroll` of `constexpr int kUnroll = UNROLL;`; empty for other lines.
std::string_view ConstantOf(std::string_view line) {
  constexpr std::string_view kBegin = "constexpr int ";
  if (!line.starts_with(kBegin) || !line.ends_with(';')) return {};
  const std::string_view rest = line.substr(kBegin.size());
  const std::string_view name = Trim(rest.substr(0, rest.find('=')));
  return IsIdentifier(name) ? name : std::string_view();
}

bool IsUsed(std::string_view text, std::string_view name, int depth) {
  for (const SourceLine& whole : SplitLines(text)) {
    const std::string_view line = Trim(whole.text);
    if (!ContainsName(line, name) || Declares(line, name)) continue;
    const std::string_view constant = ConstantOf(line);
    if (constant == name) continue;
    if (constant.empty() || depth == 0 || IsUsed(text, constant, depth - 1)) return true;
  }
  return false;
}

}  // namespace

bool IsParameterUsed(std::string_view text, std::string_view name) { return IsUsed(text, name, kConstants); }

}  // namespace evo
