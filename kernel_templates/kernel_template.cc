#include "kernel_templates/kernel_template.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <iterator>
#include <sstream>
#include <system_error>
#include <utility>

#include "core/digest.h"
#include "core/error.h"
#include "kernel_templates/directive_lexer.h"
#include "kernel_templates/parameter_block.h"
#include "kernel_templates/template_variant.h"

namespace evo {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kWords =
    "param, size, constraint, workspace, counted, tensormap, constant, launch, memset, repeat, swap, end, requires";

std::vector<std::string> Words(const std::string& text) {
  std::istringstream in(text);
  return {std::istream_iterator<std::string>(in), {}};
}

std::optional<std::int64_t> ParseInteger(std::string_view text) {
  std::int64_t value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

// Parses the directives one by one, and puts file and line in front of every Error.
class TemplateParser {
 public:
  TemplateParser(std::string file, std::string name, SourceText source) : file_(std::move(file)) {
    result_.name = std::move(name);
    result_.digest = Digest(source.text);
    result_.text = std::move(source.text);
    result_.lines = std::move(source.lines);
  }

  KernelTemplate Parse() {
    for (const Directive& directive : FindDirectives(file_, result_.text)) {
      line_ = directive.line;
      try {
        Add(directive);
      } catch (const UsageError&) {
        throw;
      } catch (const Error& error) {
        Fail(error.what());
      }
    }
    if ((line_ = steps_.OpenLoop()) != 0) Fail("evo:repeat: no evo:end line follows");
    result_.steps = steps_.steps();
    result_.constants = steps_.constants();
    CheckMacros();
    CheckConstraints();
    const bool launches =
        std::any_of(result_.steps.begin(), result_.steps.end(), [](const Step& s) { return s.launch.has_value(); });
    if (!launches) throw UsageError(fmt::format("{}: no evo:launch line; say how the kernel is launched", file_));
    return std::move(result_);
  }

 private:
  [[noreturn]] void Fail(std::string_view what) const { throw UsageError(fmt::format("{}: {}", PlaceOf(result_, line_), what)); }

  void Add(const Directive& directive) {
    if (directive.word == "param") return TakeParameter(directive.text);
    if (directive.word == "size") return TakeSize(directive.text);
    if (directive.word == "constraint") return TakeConstraint(directive.text);
    if (directive.word == "workspace") return TakeWorkspace(directive.text);
    if (directive.word == "counted") return TakeCounted(directive.text);
    if (directive.word == "requires") return TakeRequires(directive.text);
    if (directive.word == "tensormap") return TakeTensorMap(directive.text);
    if (steps_.Take(directive.word, directive.text, line_)) return;
    Fail(fmt::format("no directive 'evo:{}'; there are {}", directive.word, kWords));
  }

  void TakeParameter(const std::string& text) {
    const std::vector<std::string> words = Words(text);
    if (words.size() < 2 || !IsIdentifier(words[0])) Fail("evo:param: 'NAME value value ...' expected");
    Parameter parameter;
    parameter.name = words[0];
    CheckNewMacro("param", parameter.name);
    for (std::size_t i = 1; i < words.size(); ++i) {
      const auto value = ParseInteger(words[i]);
      if (!value) Fail(fmt::format("evo:param {}: '{}' is not an integer", parameter.name, words[i]));
      if (!parameter.values.empty() && *value <= parameter.values.back()) {
        Fail(fmt::format("evo:param {}: {} follows {}; values must ascend", parameter.name, *value, parameter.values.back()));
      }
      parameter.values.push_back(*value);
    }
    parameter_lines_.push_back(line_);
    result_.space.parameters.push_back(std::move(parameter));
  }

  void TakeSize(const std::string& text) {
    SizeMacro macro = ParseSizeMacro(text);
    CheckNewMacro("size", macro.name);
    macro.line = line_;
    result_.size_macros.push_back(std::move(macro));
  }

  void CheckNewMacro(std::string_view word, const std::string& name) {
    const auto is_it = [&](const SizeMacro& macro) { return macro.name == name; };
    if (Find(name) != nullptr || std::any_of(result_.size_macros.begin(), result_.size_macros.end(), is_it))
      Fail(fmt::format("evo:{} {}: declared twice", word, name));
  }

  void TakeConstraint(const std::string& text) {
    if (text.empty()) Fail("evo:constraint: an expression expected");
    constraint_lines_.push_back(line_);
    result_.space.constraints.push_back(Expression::Parse(text));
  }

  void TakeWorkspace(const std::string& text) {
    const std::size_t open = text.find('[');
    const std::vector<std::string> words = Words(text.substr(0, open));
    if (open == std::string::npos || !text.ends_with(']') || words.size() != 2 || !IsIdentifier(words[0])) {
      Fail("evo:workspace: 'NAME dtype [size, ...]' expected");
    }
    Workspace workspace;
    workspace.name = words[0];
    const auto dtype = ParseDtype(words[1]);
    if (!dtype) Fail(fmt::format("evo:workspace {}: no dtype '{}'", words[0], words[1]));
    workspace.dtype = *dtype;
    workspace.shape = ParseExpressions(text.substr(open + 1, text.size() - open - 2));
    if (workspace.shape.empty()) Fail(fmt::format("evo:workspace {}: at least one size expected", words[0]));
    for (const Workspace& other : result_.workspaces) {
      if (other.name == workspace.name) Fail(fmt::format("evo:workspace {}: declared twice", workspace.name));
    }
    result_.workspaces.push_back(std::move(workspace));
  }

  void TakeCounted(const std::string& text) {
    const std::size_t gap = text.find_first_of(" \t");
    const std::string name = text.substr(0, gap);
    if (gap == std::string::npos || !IsIdentifier(name))
      Fail("evo:counted: 'NAME EXPR' expected, NAME an output of the task and EXPR how many of its elements are compared");
    for (const CountedDirective& other : result_.counted) {
      if (other.argument == name) Fail(fmt::format("evo:counted {}: declared twice", name));
    }
    result_.counted.push_back({name, Expression::Parse(text.substr(gap + 1)), line_});
  }

  void TakeTensorMap(const std::string& text) {
    TensorMapDirective map;
    try {
      map = ParseTensorMap(text);
    } catch (const Error& error) {
      Fail(fmt::format("evo:tensormap: {}", error.what()));
    }
    map.line = line_;
    const auto same = [&](const TensorMapDirective& other) { return other.name == map.name; };
    if (std::any_of(result_.tensor_maps.begin(), result_.tensor_maps.end(), same)) {
      Fail(fmt::format("evo:tensormap {}: declared twice", map.name));
    }
    result_.tensor_maps.push_back(std::move(map));
  }

  void TakeRequires(const std::string& text) {
    const bool digits = text.size() > 4 && text.find_first_not_of("0123456789", 3) >= text.size() - 1;
    const bool suffix = digits && std::string_view("0123456789af").find(text.back()) != std::string_view::npos;
    if (!text.starts_with("sm_") || !suffix)
      Fail(fmt::format("evo:requires: an architecture such as sm_80 expected, not '{}'", text));
    // Edits say so, each for its own kernel.
    if (!result_.required_arch.empty() && result_.required_arch != text)
      Fail(fmt::format("evo:requires: {} and {}; one architecture expected", result_.required_arch, text));
    result_.required_arch = text;
  }

  Parameter* Find(std::string_view name) {
    for (Parameter& parameter : result_.space.parameters) {
      if (parameter.name == name) return &parameter;
    }
    return nullptr;
  }

  // The lines that define a parameter or a size macro, whose directive is on `line`. Messages name them from then on.
  ParameterBlock TheBlock(std::string_view directive, std::string_view what, const std::string& name, int line) {
    line_ = line;
    const std::vector<ParameterBlock> blocks = FindParameterBlocks(result_.text);
    const auto is_it = [&](const ParameterBlock& b) { return b.name == name; };
    const auto block = std::find_if(blocks.begin(), blocks.end(), is_it);
    if (block == blocks.end())
      Fail(fmt::format("evo:{0} {1}: its lines '#ifndef {1}', '#define {1} value', '#endif' are missing", directive, name));
    line_ = block->line;
    if (std::count_if(blocks.begin(), blocks.end(), is_it) > 1) Fail(fmt::format("{} {}: defined twice", what, name));
    const int last_include = FindIncludeEnd(result_.text).line;
    if (block->line < last_include) {
      Fail(fmt::format("{} {}: defined before the #include on line {}; includes come first", what, name, last_include));
    }
    return *block;
  }

  void CheckMacros() {
    for (std::size_t i = 0; i < result_.space.parameters.size(); ++i) {
      Parameter& parameter = result_.space.parameters[i];
      parameter.initial = TheBlock("param", "parameter", parameter.name, parameter_lines_[i]).value;
      if (std::find(parameter.values.begin(), parameter.values.end(), parameter.initial) == parameter.values.end()) {
        Fail(fmt::format("parameter {}: {} is not among its values {}", parameter.name, parameter.initial,
                         fmt::join(parameter.values, ", ")));
      }
    }
    for (const SizeMacro& macro : result_.size_macros) TheBlock("size", "size macro", macro.name, macro.line);
  }

  void CheckConstraints() {
    const Variables defaults = ToVariables(result_.space.Defaults());
    for (std::size_t i = 0; i < result_.space.constraints.size(); ++i) {
      const Expression& constraint = result_.space.constraints[i];
      line_ = constraint_lines_[i];
      for (const std::string& name : constraint.Names()) {
        if (Find(name) == nullptr) Fail(fmt::format("evo:constraint: '{}' is not a parameter of this template", name));
      }
      try {
        if (constraint.EvaluateInteger(defaults) != 0) continue;
      } catch (const Error& error) {
        Fail(fmt::format("evo:constraint: {}", error.what()));
      }
      Fail(fmt::format("evo:constraint: the default values do not meet '{}'", constraint.text()));
    }
  }

  std::string file_;
  int line_ = 0;  // the line that messages name
  std::vector<int> parameter_lines_;
  std::vector<int> constraint_lines_;
  StepReader steps_;
  KernelTemplate result_;
};

}  // namespace

KernelTemplate ParseTemplate(const std::string& name, const std::string& text) {
  return TemplateParser(name + ".cu", name, {text, {}}).Parse();
}

std::string PlaceOf(const KernelTemplate& one, int line) {
  const auto index = static_cast<std::size_t>(line) - 1;
  if (index >= one.lines.size()) return fmt::format("{}.cu:{}", one.name, line);
  return fmt::format("{}:{}", one.lines[index].file, one.lines[index].line);
}

bool CompilesFor(const std::string& required, const std::string& arch) {
  if (required.empty() || required == arch) return true;
  if (required.back() == 'a') return false;
  const auto number = [](const std::string& name) { return std::atoi(name.c_str() + std::min(name.find('_') + 1, name.size())); };
  if (required.back() == 'f')
    return number(arch) / 10 == number(required) / 10 && number(arch) >= number(required) &&
           !std::isdigit(static_cast<unsigned char>(arch.back()));
  return number(arch) >= number(required);
}

KernelTemplate LoadTemplate(const fs::path& file, const HeaderFolders& folders) {
  std::optional<SourceText> source = ReadTemplate(file, folders);
  if (!source) throw UsageError(fmt::format("{}: cannot be read", file.string()));
  return TemplateParser(file.string(), file.stem().string(), *std::move(source)).Parse();
}

std::vector<KernelTemplate> LoadTemplates(const fs::path& directory, const HeaderFolders& folders) {
  std::error_code failure;
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory, failure)) {
    if (entry.path().extension() == ".cu" && entry.path().filename() != "reference.cu") files.push_back(entry.path());
  }
  if (failure) throw UsageError(fmt::format("{}: {}", directory.string(), failure.message()));
  if (files.empty()) throw UsageError(fmt::format("{}: no template; add a .cu file next to reference.cu", directory.string()));
  std::sort(files.begin(), files.end());
  std::vector<KernelTemplate> templates;
  for (const fs::path& file : files) templates.push_back(LoadTemplate(file, folders));
  return templates;
}

}  // namespace evo
