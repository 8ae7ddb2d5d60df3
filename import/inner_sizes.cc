#include "import/inner_sizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace evo {
namespace {

using Kind = HostExpression::Kind;
using Shape = std::pair<std::string, std::string>;  // labels of rows and columns

// Of a matrix of two sizes, in the order in which the host multiplies them.
std::optional<Shape> ShapeOf(HostCode& host, const HostCode::Pointer& pointer) {
  const auto bytes = host.BytesOf(pointer);
  if (!bytes) return std::nullopt;
  std::vector<std::string> names;
  for (const HostExpression& factor : Factors(*bytes)) {
    const bool of_type = factor.kind == Kind::kName && factor.text.starts_with("sizeof ");
    if (factor.kind == Kind::kName && !of_type) names.push_back(factor.text);
    if (factor.kind != Kind::kName && factor.kind != Kind::kNumber) return std::nullopt;
  }
  return names.size() == 2 ? std::optional(Shape{names[0], names[1]}) : std::nullopt;
}

std::optional<std::int64_t> ValueOfSize(const HostCode& host, const std::string& label) {
  const auto leaf = host.leaves().find(label);
  if (leaf == host.leaves().end() || !leaf->second.value || leaf->second.value->is_real) return std::nullopt;
  return leaf->second.value->integer;
}

}  // namespace

bool SetInnerSizesEqual(HostCode& host, const std::vector<TakenLaunch>& launches, const std::map<std::string, std::string>& given,
                        std::vector<std::string>& notes) {
  for (const TakenLaunch& one : launches) {
    if (one.launch == nullptr) continue;
    std::vector<Shape> read, written;
    for (std::size_t i = 0; i < one.launch->arguments.size(); ++i) {
      const auto use = one.use.parameters.find(one.kernel->parameters[i].name);
      if (!IsPointerType(one.types[i]) || use == one.use.parameters.end()) continue;
      if (const auto shape = ShapeOf(host, host.Origin(one.launch->arguments[i], one.launch->function)))
        (use->second.written ? written : read).push_back(*shape);
    }
    for (const Shape& a : read) {
      for (const Shape& b : read) {
        const auto of_both = [&](const Shape& result) { return result.first == a.first && result.second == b.second; };
        const auto columns = ValueOfSize(host, a.second), rows = ValueOfSize(host, b.first);
        // Matrices that are all alike are no factors, but grids.
        if (a == b || a.second == b.first || !columns || columns != rows || std::none_of(written.begin(), written.end(), of_both))
          continue;
        const std::string &kept = host.leaves().at(a.second).name, &other = host.leaves().at(b.first).name;
        if (given.contains(kept) || given.contains(other)) continue;
        notes.push_back(fmt::format("{} is {}: rows of one matrix and columns of the other; --set {}={} keeps them apart", other,
                                    kept, other, *rows));
        host.SetEqual(a.second, b.first);
        return true;
      }
    }
  }
  return false;
}

}  // namespace evo
