#include "mutators/analysis/stencils/stencil_roles.h"

#include <cstdint>
#include <cstdlib>
#include <optional>

namespace evo {
namespace {

// A variable may be a coordinate plus or minus this.
constexpr std::int64_t kMostShift = 8;

// The role along an axis; nullopt if the variable has none.
std::optional<Stencil::Role> RoleAlong(const StencilLaunches& launches, int variable, std::size_t axis) {
  std::optional<Stencil::Role> role;
  for (const StencilLaunch& launch : launches) {
    for (const StencilThread& thread : launch.threads) {
      const auto value = thread.values.find(variable);
      if (value == thread.values.end()) continue;
      if (!role) role = Stencil::Role{axis, value->second - launch.ValueIn({axis, 0}, thread)};
      if (value->second != launch.ValueIn(*role, thread)) return std::nullopt;
    }
  }
  return role && std::abs(role->shift) <= kMostShift ? role : std::nullopt;
}

}  // namespace

std::map<int, Stencil::Role> StencilRolesOf(const StencilLaunches& launches, const std::vector<int>& variables) {
  std::map<int, Stencil::Role> roles;
  for (const int variable : variables) {
    for (const std::size_t axis : {std::size_t{0}, std::size_t{1}, std::size_t{2}, Stencil::kElement, Stencil::kStored}) {
      if (axis >= (launches[0].line ? 1 : launches[0].dimensions) && axis < Stencil::kElement) continue;
      const auto role = RoleAlong(launches, variable, axis);
      if (!role) continue;
      roles[variable] = *role;
      break;
    }
  }
  return roles;
}

}  // namespace evo
