#include "evaluator/compiler/nvrtc/nvcc_compiler.h"

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <regex>
#include <string>
#include <utility>
#include <variant>

#include "core/error.h"
#include "evaluator/compiler/nvrtc/cubin_sections.h"
#include "evaluator/compiler/nvrtc/ptx_checks.h"
#include "platform/command.h"

namespace evo {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kLogBytes = 16 * 1024;

CompileResult Failed(Outcome outcome, std::string message, std::string log = {}) {
  CompileResult failed;
  failed.outcome = outcome;
  failed.message = std::move(message);
  failed.log = std::move(log);
  return failed;
}

// `kernel.cu(12): error: ...` as "line 12: ...".
std::string FirstError(const std::string& log, const std::string& kernel_file) {
  const auto found = FindInLines(log, R"(([^\s()]+)\((\d+)\): (?:catastrophic )?error(?: #[-\w]+)?: (.*))");
  if (found.empty()) return log.substr(0, log.find('\n'));
  const std::string place = found[1].ends_with(kernel_file) ? "line" : found[1] + " line";
  return fmt::format("nvcc: {} {}: {}", place, found[2], found[3]);
}

// What nvcc keeps of its way to the image.
std::string KeptPtx(const fs::path& folder) {
  std::string ptx;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".ptx") ptx += ReadFile(entry.path());
  }
  return ptx;
}

class Folder {
 public:
  explicit Folder(fs::path path) : path_(std::move(path)) { fs::create_directories(path_); }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  fs::path operator/(const std::string& name) const { return path_ / name; }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

// A symbol as the source declares it, without the suffix that the launching file gives to kernels (cli/export_host.h).
std::string Declared(const std::string& symbol) {
  static const std::regex suffix("_evo_[0-9a-f]{8}");
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status),
                                                         &std::free);
  return std::regex_replace(status == 0 ? text.get() : symbol, suffix, "");
}

CompileResult Judge(std::string image, std::string ptx, std::vector<CompiledKernel> kernels,
                    const std::vector<CompiledKernel>& variables, std::string log) {
  if (const auto objection = CheckPtx(ptx)) return Failed(objection->outcome, "nvcc: " + objection->message, std::move(log));
  const std::vector<std::string> entries = EntryNames(ptx);
  for (CompiledKernel& kernel : kernels) {
    const auto entry = std::find_if(entries.begin(), entries.end(),
                                    [&](const std::string& one) { return Declared(one) == Declared(kernel.symbol); });
    if (entry == entries.end())
      return Failed(Outcome::kCompileError, fmt::format("nvcc: makes no kernel {} ({})", kernel.expression, kernel.symbol),
                    std::move(log));
    kernel.symbol = *entry;
  }
  const std::vector<std::string> declared = VariableNames(ptx);
  for (const CompiledKernel& variable : variables) {
    if (std::find(declared.begin(), declared.end(), variable.symbol) == declared.end())
      return Failed(Outcome::kCompileError, fmt::format("nvcc: makes no variable {} ({})", variable.expression, variable.symbol),
                    std::move(log));
  }
  auto sections = LastingSections(image, declared);
  if (const auto* objection = std::get_if<CubinObjection>(&sections))
    return Failed(Outcome::kUnsupported, "nvcc: " + objection->message, std::move(log));
  CompileResult result;
  result.outcome = Outcome::kOk;
  result.log = std::move(log);
  result.program = {std::move(image), std::move(ptx), std::move(kernels),
                    std::get<std::vector<ImageSection>>(std::move(sections)), variables};
  return result;
}

}  // namespace

CompileResult NvccCompiler::Compile(const ExportedKernel& exported, const std::vector<CompiledKernel>& kernels,
                                    const std::vector<CompiledKernel>& variables) const {
  std::error_code failed;
  if (!fs::exists(nvcc_, failed)) return Failed(Outcome::kCancelled, fmt::format("there is no {}", nvcc_.string()));
  const Folder folder(scratch_);
  const fs::path image = folder / "image.cubin";
  WriteFile(folder / exported.kernel_file, exported.kernel);
  WriteFile(folder / "launch.cu", exported.host);
  std::vector<std::string> arguments = exported.options;
  arguments.insert(arguments.end(), {"-cubin", "--keep", "--keep-dir", folder.path().string(), "-o", image.string(),
                                     (folder / "launch.cu").string()});
  const CommandResult run = RunCommand(nvcc_, arguments, "install the CUDA toolkit's compiler");
  std::string log = run.output;
  CutAll(log, folder.path().string() + "/");
  if (log.size() > kLogBytes) log.resize(kLogBytes);
  if (run.status != 0) {
    // Its own complaints, such as that there is no host compiler; those about a source come from its parts.
    if (const std::size_t own = log.find("nvcc fatal"); own != std::string::npos)
      return Failed(Outcome::kCancelled, log.substr(own, log.find('\n', own) - own));
    return Failed(Outcome::kCompileError, FirstError(log, exported.kernel_file), log);
  }
  return Judge(ReadFile(image), KeptPtx(folder.path()), kernels, variables, std::move(log));
}

}  // namespace evo
