#include "mutators/analysis/thread_code.h"

#include <string_view>

#include "mutators/analysis/constant_value.h"
#include "mutators/analysis/source_query.h"

namespace evo {
namespace {

bool IsRealLiteral(std::string_view text) {
  if (IsNameOnly(text)) return false;
  const bool exponent = text.find_first_of("eEfF") != std::string_view::npos && !text.starts_with("0x");
  return exponent || text.find('.') != std::string_view::npos;
}

}  // namespace

const ThreadCode::Constant& ThreadCode::ConstantAt(int literal) {
  const auto [at, fresh] = constants_.try_emplace(literal);
  Constant& found = at->second;
  if (!fresh) return found;
  const std::string_view text = tree_.Text(literal);
  found.depends_on_size = DependsOnSize(tree_, text);
  if (!IsRealLiteral(text)) found.integer = ConstantValue(tree_, text);
  if (!found.integer) found.real = RealConstant(tree_, text);
  return found;
}

}  // namespace evo
