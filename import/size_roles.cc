#include "import/size_roles.h"

#include <cctype>
#include <utility>

#include "import/task_draft.h"

namespace evo {
namespace {

using Kind = HostExpression::Kind;

// `2 * radius + 1`, as many as there are around the middle one.
bool IsAround(const HostExpression& expression) {
  if (expression.kind != Kind::kBinary || !expression.Is("+")) return false;
  for (const std::size_t one : {0, 1}) {
    const HostExpression& twice = expression.parts[1 - one];
    if (expression.parts[one].Text() != "1" || twice.kind != Kind::kBinary || !twice.Is("*")) continue;
    if (twice.parts[0].Text() == "2" || twice.parts[1].Text() == "2") return true;
  }
  return false;
}

}  // namespace

void CollectWindows(const HostExpression& expression, std::set<std::string>& names) {
  for (const HostExpression& part : expression.parts) CollectWindows(part, names);
  if (IsAround(expression)) {
    for (std::string& name : expression.Names()) names.insert(std::move(name));
  }
  if (expression.kind != Kind::kBinary || !expression.Is("-") || expression.parts[0].Names().empty()) return;
  for (std::string& name : expression.parts[1].Names()) names.insert(std::move(name));
}

void CollectExponents(const HostExpression& expression, std::set<std::string>& names) {
  for (const HostExpression& part : expression.parts) CollectExponents(part, names);
  if (expression.kind != Kind::kBinary || !expression.Is("<<")) return;
  for (std::string& name : expression.parts[1].Names()) names.insert(std::move(name));
}

bool IsHeadDepth(const std::string& name) {
  std::string word;
  for (const char c : name) {
    if (c != '_') word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  static const std::set<std::string> kNames = {"dk",       "headdim",   "dhead", "dimhead",
                                               "headsize", "headdepth", "hdim",  "dimperhead"};
  return kNames.contains(word);
}

std::int64_t GuessOfSize(const std::string& name, const std::set<std::string>& exponents, const std::set<std::string>& windows) {
  constexpr std::int64_t kUnknownSize = 1024, kUnknownExponent = 10, kUnknownDepth = 64;
  if (exponents.contains(name)) return kUnknownExponent;
  if (windows.contains(name)) return kUnknownWindow;
  return IsHeadDepth(name) ? kUnknownDepth : kUnknownSize;
}

}  // namespace evo
