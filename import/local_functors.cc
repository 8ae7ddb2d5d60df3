#include "import/local_functors.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "import/element_type.h"
#include "import/host_calls.h"
#include "import/kernel_heads.h"
#include "syntax/splices.h"

namespace evo {
namespace {

// The class of an object without fields that an expression of the host is, `Sum()` or a variable; empty if it is none, or if
// callers pass it.
std::string FunctorTypeOf(const SourceProgram& program, const SourceRange& argument, int function) {
  const auto tokens = program.Tokens(argument);
  if (tokens.size() != 1) return NewObjectOf(program, tokens);
  const ProgramVariable* const variable = program.FindVariable(tokens[0], function);
  const std::string type = variable == nullptr ? "" : PointedType(variable->type);
  return HasOnlyFunctions(program, type) ? type : "";
}

class FunctorMover {
 public:
  explicit FunctorMover(const SourceProgram& program) : program_(program), calls_(program) {}

  std::optional<std::string> Run() {
    for (const ProgramFunction& kernel : program_.functions()) {
      if (kernel.kernel) Move(kernel);
    }
    return Spliced(program_.tree(), std::move(splices_));
  }

 private:
  // Of an argument, or of the name of a template's type that callers give; empty if it is no functor.
  std::string TypeOf(const SourceRange& argument, int function) const {
    std::string type = FunctorTypeOf(program_, argument, function);
    for (SourceRange at = argument; type.empty();) {
      const auto passed = calls_.PassedFor(std::string(program_.Text(at)), function);
      if (!passed) break;
      type = FunctorTypeOf(program_, passed->range, passed->function);
      at = passed->range;
      function = passed->function;
    }
    return type;
  }

  // The place of a template's parameter that is the type; nullopt if it is another type.
  static std::optional<std::size_t> TemplatePlace(const ProgramFunction& kernel, const ProgramParameter& parameter) {
    for (std::size_t t = 0; t < kernel.template_parameters.size(); ++t) {
      if (kernel.template_parameters[t].is_type && PointedType(parameter.type) == fmt::format("type-parameter-0-{}", t)) return t;
    }
    return std::nullopt;
  }

  void Move(const ProgramFunction& kernel) {
    std::vector<const HostLaunch*> launches;
    for (const HostLaunch& launch : calls_.launches()) {
      if (launch.name == kernel.name) launches.push_back(&launch);
    }
    std::vector<std::size_t> places;  // of parameters
    for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
      if (IsPointerType(kernel.parameters[i].type) || kernel.parameters[i].name.empty()) continue;
      const auto place = TemplatePlace(kernel, kernel.parameters[i]);
      if (!place && !HasOnlyFunctions(program_, PointedType(kernel.parameters[i].type))) continue;
      const bool all = !launches.empty() && std::all_of(launches.begin(), launches.end(), [&](const HostLaunch* launch) {
        if (launch->arguments.size() != kernel.parameters.size()) return false;
        if (program_.Text(launch->range).find("<<<") == std::string_view::npos) return false;
        return !TypeOf(launch->arguments[i], launch->function).empty();
      });
      if (all) places.push_back(i);
    }
    // The first and the second would have one comma between them.
    if (places.empty() || places.size() == kernel.parameters.size() || (places.size() > 1 && places[0] == 0 && places[1] == 1))
      return;
    Splices splices;
    if (!MoveIn(kernel, places, splices)) return;
    for (const HostLaunch* const launch : launches) {
      std::map<std::size_t, std::string> deduced;  // types, by the place of the template's parameter
      for (const std::size_t i : places) {
        splices.emplace_back(WithComma(launch->arguments, i), "");
        const auto place = TemplatePlace(kernel, kernel.parameters[i]);
        if (place && *place >= launch->template_arguments.size())
          deduced[*place] = TypeOf(launch->arguments[i], launch->function);
      }
      if (deduced.empty()) continue;
      // What is in front of them would have to be written, too.
      const std::size_t given = launch->template_arguments.size();
      if (deduced.begin()->first != given || deduced.rbegin()->first != given + deduced.size() - 1) return;
      std::string types;
      for (const auto& [place, type] : deduced) types += (types.empty() ? "" : ", ") + type;
      const std::uint32_t end = given > 0 ? launch->template_arguments.back().end
                                          : launch->range.begin + static_cast<std::uint32_t>(launch->name.size());
      splices.emplace_back(SourceRange{end, end}, given > 0 ? ", " + types : "<" + types + ">");
    }
    splices_.insert(splices_.end(), splices.begin(), splices.end());
  }

  // One of several in a list, with a comma beside it.
  static SourceRange WithComma(const std::vector<SourceRange>& list, std::size_t place) {
    if (place > 0) return {list[place - 1].end, list[place].end};
    return {list[place].begin, list[place + 1].begin};
  }

  // Takes the parameters away wherever the kernel is declared, and declares variables where it is defined.
  bool MoveIn(const ProgramFunction& kernel, const std::vector<std::size_t>& places, Splices& splices) const {
    const std::vector<KernelHead> heads = HeadsOf(program_, calls_, kernel);
    for (const KernelHead& head : heads) {
      std::string declarations;
      for (const std::size_t place : places) {
        splices.emplace_back(WithComma(head.parameters, place), "");
        std::string declaration(program_.Text(head.parameters[place]));
        if (declaration.starts_with("const ")) declaration.erase(0, 6);
        declarations += fmt::format(" {}{{}};", declaration);
      }
      if (head.body > 0) splices.emplace_back(SourceRange{head.body, head.body}, declarations);
    }
    return !heads.empty();
  }

  const SourceProgram& program_;
  HostCalls calls_;
  Splices splices_;
};

}  // namespace

std::optional<std::string> WithLocalFunctors(const SourceProgram& program) { return FunctorMover(program).Run(); }

}  // namespace evo
