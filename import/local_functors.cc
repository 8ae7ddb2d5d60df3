#include "import/local_functors.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "import/element_type.h"
#include "import/host_calls.h"

namespace evo {
namespace {

// Whether it is a class of the program that can be called and has no fields.
bool IsFunctorClass(const SourceProgram& program, const std::string& type) {
  const std::string name = type.substr(0, type.find('<'));
  const SyntaxTree& tree = program.tree();
  for (const SyntaxNode& node : tree.nodes()) {
    const bool record = node.kind_name == "StructDecl" || node.kind_name == "ClassDecl" || node.kind_name == "ClassTemplate";
    if (!record || node.name != name || node.children.empty()) continue;
    bool called = false, stateless = true;
    for (const int child : node.children) {
      const SyntaxNode& part = tree.node(child);
      called |= part.name.starts_with("operator()");
      stateless &= part.kind_name != "FieldDecl" && part.kind_name.find("ase") == std::string::npos;
    }
    if (called) return stateless;
  }
  return false;
}

class FunctorMover {
 public:
  explicit FunctorMover(const SourceProgram& program) : program_(program), calls_(program) {}

  std::optional<std::string> Run() {
    for (const ProgramFunction& kernel : program_.functions()) {
      if (kernel.kernel) Move(kernel);
    }
    if (splices_.empty()) return std::nullopt;
    std::stable_sort(splices_.begin(), splices_.end(),
                     [](const auto& a, const auto& b) { return a.first.begin > b.first.begin; });
    std::string text = program_.text();
    for (const auto& [range, by] : splices_) text.replace(range.begin, range.size(), by);
    return text;
  }

 private:
  using Splices = std::vector<std::pair<SourceRange, std::string>>;

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
      if (!place && !IsFunctorClass(program_, PointedType(kernel.parameters[i].type))) continue;
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
    bool defined = false;
    const auto& tokens = program_.tokens();
    for (std::size_t at = 1; at + 1 < tokens.size(); ++at) {
      if (program_.Token(at) != kernel.name || program_.Token(at + 1) != "(") continue;
      if (program_.FunctionAt(tokens[at].begin) >= 0 && !kernel.range.Contains(tokens[at])) continue;
      const std::size_t end = program_.AfterBracket(at + 1);
      if (end >= tokens.size() || (program_.Token(end) != "{" && program_.Token(end) != ";")) continue;
      const auto parameters = calls_.Split(at + 1, end - 1);
      if (parameters.size() != kernel.parameters.size()) return false;
      std::string declarations;
      for (const std::size_t place : places) {
        splices.emplace_back(WithComma(parameters, place), "");
        std::string declaration(program_.Text(parameters[place]));
        if (declaration.starts_with("const ")) declaration.erase(0, 6);
        declarations += fmt::format(" {}{{}};", declaration);
      }
      if (program_.Token(end) == ";") continue;
      defined = true;
      splices.emplace_back(SourceRange{tokens[end].end, tokens[end].end}, declarations);
    }
    return defined;
  }

  const SourceProgram& program_;
  HostCalls calls_;
  Splices splices_;
};

}  // namespace

std::optional<std::string> WithLocalFunctors(const SourceProgram& program) { return FunctorMover(program).Run(); }

std::string FunctorTypeOf(const SourceProgram& program, const SourceRange& argument, int function) {
  const auto tokens = program.Tokens(argument);
  if (tokens.size() == 1) {
    const ProgramVariable* const variable = program.FindVariable(tokens[0], function);
    const std::string type = variable == nullptr ? "" : PointedType(variable->type);
    return IsFunctorClass(program, type) ? type : "";
  }
  const bool made = tokens.size() > 2 && ((tokens.back() == "}" && tokens[tokens.size() - 2] == "{") ||
                                          (tokens.back() == ")" && tokens[tokens.size() - 2] == "("));
  if (!made) return "";
  std::string type;
  for (std::size_t i = 0; i + 2 < tokens.size(); ++i) type += tokens[i];
  return IsFunctorClass(program, type) ? type : "";
}

}  // namespace evo
