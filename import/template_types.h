#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "import/host_code.h"
#include "import/source_program.h"

namespace evo {

// The type that a template's parameter `t` stands for in a call or launch, which spells `arguments` between its angle brackets:
// what it says there, or else what follows from the variables that it passes. Parameters of the host's own templates are
// followed to their first callers. Empty if nobody says.
std::string TypeArgumentOf(const SourceProgram& program, const HostCode& host, const HostCall& call,
                           const std::vector<std::string>& arguments, const ProgramFunction& called, std::size_t t);

// A parameter's type as libclang has it, with the arguments of its template in their places; empty ones stay out.
std::string WithTypeArguments(std::string type, const std::vector<std::string>& arguments);

// What the first caller of a host function that says it gives a parameter of its template that is no type, `run<Kind::kMax>(x)`,
// followed through its callers' templates, and the function in which that is spelled. nullopt if the name is no such parameter.
struct TemplateValue {
  std::string text;
  int function = -1;
};
std::optional<TemplateValue> ValueOfTemplate(const SourceProgram& program, const std::vector<HostCall>& calls, int function,
                                             std::string_view name);

}  // namespace evo
