#include "import/template_head.h"

#include <string>
#include <string_view>

namespace evo {

std::vector<TemplateParameter> TemplateHeadOf(const SourceProgram& program, const SourceRange& function) {
  std::size_t at = program.TokenAt(function.begin);
  if (program.Token(at) != "template") {
    if (at == 0 || program.Token(at - 1) != ">") return {};
    while (at > 0 && program.Token(at) != "template" && program.Token(at) != ";" && program.Token(at) != "}") --at;
  }
  if (program.Token(at) != "template" || program.Token(at + 1) != "<") return {};
  std::vector<TemplateParameter> parameters;
  bool is_type = false, given = false;  // the last one, and whether its default is being read
  int depth = 0;
  for (at += 2; at < program.tokens().size() && (depth > 0 || program.Token(at) != ">"); ++at) {
    const std::string_view token = program.Token(at), next = program.Token(at + 1);
    depth += (token == "<" || token == "(") - (token == ">" || token == ")");
    if (depth > 0) continue;
    if (token == ",") is_type = given = false;
    if (token == "=") given = true;
    if (token == "typename" || token == "class") is_type = true;
    const bool last = next == "," || next == ">" || next == "=";
    if (last && !given && IsWord(token) && token != "typename" && token != "class")
      parameters.push_back({std::string(token), is_type});
  }
  return parameters;
}

}  // namespace evo
