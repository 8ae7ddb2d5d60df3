// Which loop of the host around its launches a task takes over.
#include <algorithm>

#include "import/draft_builder.h"

namespace evo {

TakenLoop TakeLoop(const SourceProgram& program, HostCode& host, const std::vector<TakenLaunch>& launches) {
  TakenLoop loop;
  if (launches.empty() || launches.front().launch == nullptr) return loop;
  const HostLaunch& launch = *launches.front().launch;
  const SyntaxTree& tree = program.tree();
  int found = -1;
  for (std::size_t i = 0; i < tree.nodes().size(); ++i) {
    const SyntaxNode& node = tree.nodes()[i];
    if (node.kind_name == "ForStmt" && node.range.Contains(launch.range)) found = static_cast<int>(i);
  }
  if (found < 0) return loop;
  const SourceRange range = tree.node(found).range;
  // for (int STEP = 0; STEP < COUNT; ..)
  const auto tokens = program.Tokens(range);
  std::size_t semicolon = 0;
  while (semicolon < tokens.size() && tokens[semicolon] != ";") ++semicolon;
  std::size_t second = semicolon + 1;
  while (second < tokens.size() && tokens[second] != ";") ++second;
  if (second >= tokens.size() || semicolon + 3 > second) return loop;
  loop.step = std::string(tokens[semicolon + 1]);
  const bool inclusive = tokens[semicolon + 2] == "<=";
  if (tokens[semicolon + 2] != "<" && !inclusive) return loop;
  const std::vector<std::string_view> bound(tokens.begin() + static_cast<std::ptrdiff_t>(semicolon) + 3,
                                            tokens.begin() + static_cast<std::ptrdiff_t>(second));
  HostExpression count = host.Resolve(ParseHostExpression(bound), launch.function);
  if (inclusive) count = HostExpression::Binary("+", count, HostExpression::Integer(1));
  // STEP += 2
  if (second + 3 < tokens.size() && tokens[second + 2] == "+=") {
    std::size_t close = second + 3;
    for (int depth = 0; close < tokens.size() && (tokens[close] != ")" || depth > 0); ++close)
      depth += tokens[close] == "(" ? 1 : tokens[close] == ")" ? -1 : 0;
    const std::vector<std::string_view> width(tokens.begin() + static_cast<std::ptrdiff_t>(second) + 3,
                                              tokens.begin() + static_cast<std::ptrdiff_t>(close));
    const HostExpression each = host.Resolve(ParseHostExpression(width), launch.function);
    const auto value = ValueOf(each, host.Values());
    if (value && value->AsReal() != 1) count = HostExpression::Call("ceil_div", {count, each});
  }
  loop.count = Simplified(count).Text();
  // Assignments of pointers in the loop, and calls of swap.
  const auto pointer = [&](const SourceRange& at) { return host.Origin(at, launch.function); };
  std::vector<HostCode::Pointer> passed;
  for (const TakenLaunch& one : launches) {
    for (std::size_t i = 0; one.launch != nullptr && i < one.launch->arguments.size(); ++i) {
      if (IsPointerType(one.types[i])) passed.push_back(pointer(one.launch->arguments[i]));
    }
  }
  const auto is_passed = [&](const HostCode::Pointer& one) {
    return std::find(passed.begin(), passed.end(), one) != passed.end();
  };
  for (const HostCall& call : host.calls()) {
    if (call.name != "swap" || call.arguments.size() != 2 || !range.Contains(call.range)) continue;
    loop.swaps.emplace_back(pointer(call.arguments[0]), pointer(call.arguments[1]));
  }
  std::vector<std::pair<HostCode::Pointer, HostCode::Pointer>> assigned;
  for (std::size_t i = program.TokenAt(range.begin); i + 3 < program.tokens().size() && program.tokens()[i].end <= range.end;
       ++i) {
    if (program.Token(i + 1) != "=" || program.Token(i + 3) != ";") continue;
    assigned.emplace_back(pointer(program.tokens()[i]), pointer(program.tokens()[i + 2]));
  }
  // Two of an array of pointers, whose indices are exchanged.
  for (const auto& [to, from] : assigned) {
    for (const HostCode::Pointer& a : passed) {
      for (const HostCode::Pointer& b : passed) {
        if (!a.index.empty() && a.index == to.name && b.index == from.name && a.name == b.name) loop.swaps.emplace_back(a, b);
      }
    }
  }
  for (const auto& [to, from] : assigned) {
    if (is_passed(to) && is_passed(from) && !(to == from)) loop.swaps.emplace_back(to, from);
  }
  bool step_passed = false;
  for (const TakenLaunch& one : launches) {
    for (const auto& [name, value] : one.values) {
      const auto names = value.Names();
      step_passed = step_passed || std::find(names.begin(), names.end(), loop.step) != names.end();
    }
  }
  if (loop.swaps.size() > 1) loop.swaps.resize(1);
  loop.taken = !loop.swaps.empty() || step_passed;
  return loop;
}

}  // namespace evo
