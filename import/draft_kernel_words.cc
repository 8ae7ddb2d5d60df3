// What the text of kernels says of the names of the host.
#include <algorithm>

#include "import/draft_names.h"
#include "import/element_type.h"

namespace evo {

// Whether a block has this extent along two axes.
bool IsSquareBlock(const std::vector<TakenLaunch>& launches, const std::string& label) {
  return std::any_of(launches.begin(), launches.end(), [&](const TakenLaunch& one) {
    return std::count_if(one.block.begin(), one.block.end(), [&](const HostExpression& part) {
             const auto names = part.Names();
             return std::find(names.begin(), names.end(), label) != names.end();
           }) > 1;
  });
}

// Whether a kernel calls a buffer so, of which an argument gets its name.
bool IsPointerOfKernels(const std::vector<TakenLaunch>& launches, const std::string& name) {
  return std::any_of(launches.begin(), launches.end(), [&](const TakenLaunch& one) {
    const auto& parameters = one.kernel->parameters;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      if (parameters[i].name == name && IsPointerType(one.types[i])) return true;
    }
    return false;
  });
}

// A name that device code declares for itself: a macro of that name would break it.
bool DraftNames::IsNameOfDeviceCode(const std::string& name) const {
  const auto& functions = program_.functions();
  for (const ProgramFunction& function : functions) {
    if (!function.device || !device_.words.contains(function.name)) continue;
    const auto named = [&](const auto& one) { return one.name == name; };
    if (std::any_of(function.parameters.begin(), function.parameters.end(), named)) return true;
    if (std::any_of(function.template_parameters.begin(), function.template_parameters.end(), named)) return true;
  }
  return std::any_of(program_.variables().begin(), program_.variables().end(), [&](const ProgramVariable& variable) {
    return variable.name == name && variable.function >= 0 && functions[static_cast<std::size_t>(variable.function)].device;
  });
}

// Whether a kernel's array in shared memory is so much longer or wider, as by the halo of a tile.
bool DraftNames::IsInSharedExtent(const std::string& label) const {
  return std::any_of(launches_.begin(), launches_.end(), [&](const TakenLaunch& one) {
    bool shared = false, extent = false;
    for (const std::string_view token : program_.Tokens(one.kernel->body)) {
      shared = token == "__shared__" || (shared && token != ";");
      extent = shared && (token == "[" || (extent && token != "]"));
      if (extent && token == label) return true;
    }
    return false;
  });
}

// Whether the kernels have this number, or one beside it, as in `tile[16 + 2]`: a block of another shape would not fit them.
bool DraftNames::IsWrittenInKernels(std::int64_t value) const {
  for (const TakenLaunch& one : launches_) {
    for (const std::string_view token : program_.Tokens(one.kernel->body)) {
      if (std::isdigit(static_cast<unsigned char>(token[0])) == 0) continue;
      const auto number = ValueOf(Simplified(ParseHostExpression({token})), {});
      if (number && !number->is_real && value > 2 && number->integer >= value - 1 && number->integer <= value + 2) return true;
    }
  }
  return false;
}

}  // namespace evo
