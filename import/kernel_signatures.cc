#include "import/kernel_signatures.h"

#include <algorithm>
#include <charconv>

#include "import/element_type.h"
#include "import/source_program.h"

namespace evo {
namespace {

constexpr int kMostStructs = 4;  // structs within structs

// Whether an error of the parser is in the lines of the range.
bool HasError(const SourceProgram& program, const SourceRange& range) {
  const int first = program.LineOf(range.begin);
  const int last = program.LineOf(range.end);
  return std::any_of(program.tree().errors().begin(), program.tree().errors().end(), [&](const std::string& error) {
    int line = 0;
    std::from_chars(error.data(), error.data() + error.size(), line);
    return line >= first && line <= last;
  });
}

KernelSignature SignatureOf(const SourceProgram& program, const ProgramFunction& function) {
  KernelSignature signature;
  signature.name = function.qualified;
  signature.doubtful = HasError(program, {function.range.begin, std::max(function.range.begin, function.body.begin)});
  for (const ProgramParameter& parameter : function.parameters)
    signature.parameters.push_back({std::string(program.tree().Text(parameter.node)), parameter.type});
  for (const TemplateParameter& parameter : function.template_parameters) signature.template_parameters.push_back(parameter.name);
  return signature;
}

void AddFields(const SourceProgram& program, const std::string& type, int depth, std::vector<std::string>& fields) {
  for (const ProgramParameter& field : FieldsOf(program, type)) {
    const bool nested = depth < kMostStructs && !IsPointerType(field.type) && !FieldsOf(program, PointedType(field.type)).empty();
    if (nested)
      AddFields(program, PointedType(field.type), depth + 1, fields);
    else
      fields.push_back(field.type);
  }
}

}  // namespace

TemplateSignatures ReadSignatures(const std::string& text, SyntaxParser& parser) {
  const SyntaxTree tree = parser.Parse(text);
  const SourceProgram program(tree);
  TemplateSignatures signatures;
  for (const ProgramFunction& function : program.functions()) {
    if (function.kernel) signatures.kernels.push_back(SignatureOf(program, function));
  }
  for (const SyntaxNode& node : tree.nodes()) {
    if ((node.kind_name == "StructDecl" || node.kind_name == "ClassDecl") && !node.name.empty()) {
      // `typedef struct {..} S;` has two declarations of S.
      std::vector<std::string>& fields = signatures.structs[node.name];
      if (fields.empty()) AddFields(program, node.name, 0, fields);
    }
    if (node.kind_name == "TypedefDecl" || node.kind_name == "TypeAliasDecl") signatures.types[node.name] = node.type;
  }
  for (const ProgramMacro& macro : program.macros()) {
    if (!macro.function_like && !macro.body.empty()) signatures.types.emplace(macro.name, CanonicalType(program, macro.name));
  }
  return signatures;
}

}  // namespace evo
