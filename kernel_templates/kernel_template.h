#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/expression.h"
#include "core/search_space.h"
#include "kernel_templates/dtype.h"
#include "kernel_templates/size_macro.h"
#include "kernel_templates/step_directives.h"
#include "kernel_templates/template_parts.h"
#include "kernel_templates/tensor_map.h"

namespace evo {

// `evo:workspace partial f32 [B, H, S]`: scratch memory that the launches share. Its contents are undefined at the start.
struct Workspace {
  std::string name;
  Dtype dtype = Dtype::kF32;
  std::vector<Expression> shape;
};

// `evo:counted data 0`: of this output of the task no more than so many elements, from the first, are compared, in sizes. What
// kernels leave in the others need not be left by those that take their place. The task says the same.
struct CountedDirective {
  std::string argument;
  Expression elements;
  int line = 0;
};

// A .cu file and what its directives declare. The text of a rendered candidate is one too, and parsing it gives its launches.
struct KernelTemplate {
  std::string name;  // file name without ".cu"
  std::string text;
  std::string digest;  // Digest(text)
  SearchSpace space;
  std::vector<SizeMacro> size_macros;
  std::vector<Workspace> workspaces;
  std::vector<CountedDirective> counted;
  std::vector<TensorMapDirective> tensor_maps;
  std::vector<ConstantDirective> constants;
  std::vector<Step> steps;        // at least one launch; loops nest and are closed
  std::string required_arch;      // "sm_80"; empty if the template requires none
  std::vector<TextOrigin> lines;  // where the lines of the text come from; empty if it was not read from a file
};

// Parses the directives of a .cu text. `name` appears in messages. Throws UsageError with file, line, what is wrong and what to
// do.
KernelTemplate ParseTemplate(const std::string& name, const std::string& text);

// Whether code that requires `required` ("sm_80", "sm_90a" or nothing) can be compiled for `arch`: that is the required
// architecture or a later one, with the suffix 'a' only that one, and with 'f' a later one of its family.
bool CompilesFor(const std::string& required, const std::string& arch);

// "FILE:LINE" of a line of the text, for messages.
std::string PlaceOf(const KernelTemplate& one, int line);

// Reads a template from a file, with its local headers (template_parts.h). It may be a variant of another (template_variant.h).
// Throws UsageError.
KernelTemplate LoadTemplate(const std::filesystem::path& file, const HeaderFolders& folders = {});

// Reads the templates of a task, sorted by name: every .cu file of its folder except reference.cu. Throws UsageError.
std::vector<KernelTemplate> LoadTemplates(const std::filesystem::path& directory, const HeaderFolders& folders = {});

}  // namespace evo
