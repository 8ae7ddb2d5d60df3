#include "import/kernel_heads.h"

#include <algorithm>

namespace evo {

std::vector<KernelHead> HeadsOf(const SourceProgram& program, const HostCalls& calls, const ProgramFunction& kernel) {
  std::vector<KernelHead> heads;
  const auto& tokens = program.tokens();
  for (std::size_t at = 1; at + 1 < tokens.size(); ++at) {
    if (program.Token(at) != kernel.name || program.Token(at + 1) != "(") continue;
    if (program.FunctionAt(tokens[at].begin) >= 0 && !kernel.range.Contains(tokens[at])) continue;
    const std::size_t end = program.AfterBracket(at + 1);
    if (end >= tokens.size() || (program.Token(end) != "{" && program.Token(end) != ";")) continue;
    KernelHead head{calls.Split(at + 1, end - 1), program.Token(end) == "{" ? tokens[end].end : 0};
    if (head.parameters.size() != kernel.parameters.size()) return {};
    heads.push_back(std::move(head));
  }
  const bool defined = std::any_of(heads.begin(), heads.end(), [](const KernelHead& head) { return head.body > 0; });
  return defined ? heads : std::vector<KernelHead>{};
}

}  // namespace evo
