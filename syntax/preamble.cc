#include "syntax/preamble.h"

#include <vector>

namespace evo {
namespace {

// The preprocessor directives of a text, including lines continued by a backslash, and excluding those in multi-line comments.
std::vector<std::string> Directives(std::string_view text) {
  std::vector<std::string> directives;
  bool in_comment = false;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && (text[end] != '\n' || (end > at && text[end - 1] == '\\'))) ++end;
    const std::string_view line = text.substr(at, end - at);
    at = end + 1;
    if (in_comment) {
      in_comment = line.find("*/") == std::string_view::npos;
      continue;
    }
    const std::size_t first = line.find_first_not_of(" \t\r");
    if (first == std::string_view::npos) continue;
    if (line.substr(first, 2) == "/*") in_comment = line.find("*/", first + 2) == std::string_view::npos;
    if (line[first] != '#') continue;
    directives.emplace_back(line.substr(first, line.find("//", first) - first));
  }
  return directives;
}

bool IsInclude(const std::string& directive) {
  const std::size_t word = directive.find_first_not_of(" \t", 1);
  return word != std::string::npos && directive.compare(word, 7, "include") == 0;
}

int Depth(const std::string& directive) {
  const std::size_t word = directive.find_first_not_of(" \t", 1);
  if (word == std::string::npos) return 0;
  if (directive.compare(word, 2, "if") == 0) return 1;
  return directive.compare(word, 5, "endif") == 0 ? -1 : 0;
}

// NAME of a directive `#WORD NAME` with nothing behind it; empty for others.
std::string OnlyName(const std::string& directive, std::string_view word) {
  const std::size_t begin = directive.find_first_not_of(" \t", 1);
  if (begin == std::string::npos || directive.compare(begin, word.size(), word) != 0) return "";
  const std::size_t name = directive.find_first_not_of(" \t", begin + word.size());
  if (name == std::string::npos || name == begin + word.size()) return "";
  const std::size_t end = directive.find_last_not_of(" \t\r") + 1;
  const std::string found = directive.substr(name, end - name);
  return found.find_first_of(" \t(") == std::string::npos ? found : "";
}

std::string MarkOf(const std::string& guard) { return "EVO_GUARD_" + guard; }

}  // namespace

std::string PreambleOf(std::string_view text) {
  std::string preamble = "#include <more_device_functions.h>\n";
  const std::vector<std::string> directives = Directives(text);
  std::size_t count = 0;
  for (std::size_t i = 0; i < directives.size(); ++i) {
    if (IsInclude(directives[i])) count = i + 1;
  }
  int depth = 0;
  std::vector<std::string> guards;
  for (std::size_t i = 0; i < count; ++i) {
    preamble += directives[i] + "\n";
    depth += Depth(directives[i]);
    // The source that follows begins with the same include guard, which must let it through.
    const std::string guard = OnlyName(directives[i], "ifndef");
    if (guard.empty() || i + 1 >= count || OnlyName(directives[i + 1], "define") != guard) continue;
    // One that a header has defined, such as __global__, keeps its meaning.
    preamble += "#define " + MarkOf(guard) + "\n";
    guards.push_back(guard);
  }
  for (; depth > 0; --depth) preamble += "#endif\n";
  for (const std::string& guard : guards) preamble += "#ifdef " + MarkOf(guard) + "\n#undef " + guard + "\n#endif\n";
  return preamble + ";\n";
}

}  // namespace evo
