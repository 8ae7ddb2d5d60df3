#include "cli/exported_kernel.h"

#include <sstream>

#include "cli/export_host.h"

namespace evo {

ExportedKernel MakeExportedKernel(const std::string& text, const KernelTemplate& parsed, const Task& task,
                                  const std::string& arch) {
  constexpr const char* kFile = "kernel.cu";
  ExportedKernel exported{kFile, text, ExportHost(parsed, task, kFile, arch), {"-std=c++17"}};
  std::istringstream target(NvccTarget(ArchToCompileFor(parsed, arch)));
  for (std::string option; target >> option;) exported.options.push_back(option);
  return exported;
}

}  // namespace evo
