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

// `evo:workspace partial f32 [B, H, S]`: scratch memory that the launches share; contents undefined at the start.
struct Workspace {
  std::string name;
  Dtype dtype = Dtype::kF32;
  std::vector<Expression> shape;
};

// `evo:launch kernel<T...>(args...) grid(..) block(..) shared(..) cluster(..) cooperative when(..)`
struct LaunchDirective {
  std::string kernel;                          // function name
  std::string kernel_expression;               // with its template arguments: "attention_split<BLOCK_M>"
  std::vector<std::string> arguments;          // as written, each an argument, a workspace, a tensor map or an expression
  std::vector<Expression> grid;                // one to three
  std::vector<Expression> block;               // one to three
  Expression shared = Expression::Parse("0");  // dynamic shared memory, bytes
  std::vector<Expression> cluster;             // empty, or three
  bool cooperative = false;
  std::optional<Expression> when;  // launched only if not zero
  int line = 0;                    // in the source, from 1
};

// `evo:memset NAME VALUE`: every byte of a workspace or output set to VALUE before what follows.
struct MemsetDirective {
  std::string buffer;
  int value = 0;
  int line = 0;
};

// A declared step; steps run in the order written.
struct Step {
  std::optional<LaunchDirective> launch;
  std::optional<MemsetDirective> memset;
};

// A .cu file with its directives understood. A rendered candidate is one too: parsing it gives its launches.
struct KernelTemplate {
  std::string name;  // file name without ".cu"
  std::string text;
  std::string digest;  // Digest(text)
  SearchSpace space;
  std::vector<Workspace> workspaces;
  std::vector<TensorMapDirective> tensor_maps;
  std::vector<Step> steps;    // at least one launch
  std::string required_arch;  // "sm_80"; empty if none
};

// Understands the directives of a .cu text. `name` appears in messages. Throws UsageError: file, line, what, what to do;
// evo:constant is refused as not supported yet.
KernelTemplate ParseTemplate(const std::string& name, const std::string& text);

// Whether code that requires `required` ("sm_80", "sm_90a" or nothing) can be compiled for `arch`: every later architecture, but
// with an 'a' that very one, and with an 'f' its family.
bool CompilesFor(const std::string& required, const std::string& arch);

// Reads FILE, which may be a variant of another (template_variant.h). Throws UsageError.
KernelTemplate LoadTemplate(const std::filesystem::path& file);

// The templates of a task: every *.cu of its folder but reference.cu, sorted by name.
std::vector<KernelTemplate> LoadTemplates(const std::filesystem::path& directory);

}  // namespace evo
