#include "import/size_roles.h"

#include <utility>

namespace evo {
namespace {

using Kind = HostExpression::Kind;

}  // namespace

void CollectWindows(const HostExpression& expression, std::set<std::string>& names) {
  for (const HostExpression& part : expression.parts) CollectWindows(part, names);
  if (expression.kind != Kind::kBinary || !expression.Is("-") || expression.parts[0].Names().empty()) return;
  for (std::string& name : expression.parts[1].Names()) names.insert(std::move(name));
}

void CollectExponents(const HostExpression& expression, std::set<std::string>& names) {
  for (const HostExpression& part : expression.parts) CollectExponents(part, names);
  if (expression.kind != Kind::kBinary || !expression.Is("<<")) return;
  for (std::string& name : expression.parts[1].Names()) names.insert(std::move(name));
}

}  // namespace evo
