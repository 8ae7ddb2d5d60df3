#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/expression.h"
#include "core/search_space.h"
#include "kernel_templates/dtype.h"
#include "kernel_templates/tensor_map.h"

namespace evo {

// `evo:workspace partial f32 [B, H, S]`: scratch memory that the launches share. Its contents are undefined at the start.
struct Workspace {
  std::string name;
  Dtype dtype = Dtype::kF32;
  std::vector<Expression> shape;
};

// `evo:launch kernel<T...>(args...) grid(..) block(..) shared(..) cluster(..) cooperative when(..)`
struct LaunchDirective {
  std::string kernel;                          // function name
  std::string kernel_expression;               // with its template arguments: "attention_split<BLOCK_M>"
  std::vector<std::string> arguments;          // as written: arguments, workspaces, tensor maps or expressions
  std::vector<Expression> grid;                // one to three values
  std::vector<Expression> block;               // one to three values
  Expression shared = Expression::Parse("0");  // dynamic shared memory, bytes
  std::vector<Expression> cluster;             // none or three values
  bool cooperative = false;
  std::optional<Expression> when;  // launched only if this is not zero
  int line = 0;                    // in the source, from 1
};

// `evo:memset NAME VALUE`: sets every byte of a workspace or output to VALUE before the next step.
struct MemsetDirective {
  std::string buffer;
  int value = 0;
  int line = 0;
};

// A launch or a memset. Steps run in the order in which they are written.
struct Step {
  std::optional<LaunchDirective> launch;
  std::optional<MemsetDirective> memset;
};

// A .cu file and what its directives declare. The text of a rendered candidate is one too, and parsing it gives its launches.
struct KernelTemplate {
  std::string name;  // file name without ".cu"
  std::string text;
  std::string digest;  // Digest(text)
  SearchSpace space;
  std::vector<Workspace> workspaces;
  std::vector<TensorMapDirective> tensor_maps;
  std::vector<Step> steps;    // at least one launch
  std::string required_arch;  // "sm_80"; empty if the template requires none
};

// Parses the directives of a .cu text. `name` appears in messages. Throws UsageError with file, line, what is wrong and what to
// do; evo:constant is not supported yet.
KernelTemplate ParseTemplate(const std::string& name, const std::string& text);

// Whether code that requires `required` ("sm_80", "sm_90a" or nothing) can be compiled for `arch`: that is the required
// architecture or a later one, with the suffix 'a' only that one, and with 'f' a later one of its family.
bool CompilesFor(const std::string& required, const std::string& arch);

// Reads a template from a file, with its parts (template_parts.h). It may be a variant of another (template_variant.h). Throws
// UsageError.
KernelTemplate LoadTemplate(const std::filesystem::path& file);

// Reads the templates of a task, sorted by name: every .cu file of its folder except reference.cu. Throws UsageError.
std::vector<KernelTemplate> LoadTemplates(const std::filesystem::path& directory);

}  // namespace evo
