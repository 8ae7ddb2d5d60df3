#include "evaluator/compiler/host/host_compiler.h"

#include <fmt/format.h>

#include "core/error.h"
#include "evaluator/compiler/host/host_source.h"
#include "evaluator/compiler/host/prelude_cache.h"
#include "evaluator/compiler/rules/image_rules.h"
#include "platform/command.h"

namespace evo {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLogBytes = 16 * 1024;

}  // namespace

std::string FirstHostError(const std::string& log) {
  const auto in_candidate = FindInLines(log, R"(candidate\.cu:(\d+):\d+: (?:fatal )?error: (.*))");
  if (!in_candidate.empty()) return fmt::format("line {}: {}", in_candidate[1], in_candidate[2]);
  const auto any = FindInLines(log, R"((?:fatal )?error: (.*))");
  return any.empty() ? log.substr(0, log.find('\n')) : any[1];
}

HostCompiler::HostCompiler(HostCompilerPaths paths) : paths_(std::move(paths)) {
  fs::create_directories(paths_.scratch);
  const PreludeCache cache(paths_.compiler, paths_.cache, paths_.scratch);
  prelude_ = cache.Find(Options(false));
  // The functions that check are compiled without calls of themselves.
  std::vector<std::string> checks = Options(false);
  checks.insert(checks.end(), {"-DEVO_CPU_CHECKS_DEFINED", "-x", "c++", (paths_.cpu_headers / "evo_cpu" / "checks.h").string()});
  checked_prelude_ = cache.Find(Options(true), checks);
}

HostCompiler::~HostCompiler() {
  std::error_code ignored;
  fs::remove_all(paths_.scratch, ignored);
}

std::vector<std::string> HostCompiler::Options(bool checked) const {
  // -O2, because -O3 takes half as long again to compile and gains little here. A checked image has it too, since at -O1 the race
  // detector was seen to miss accesses. There is no contraction, so that a * b + c gives the same result on every machine, and no
  // fast-math, since what a candidate gains by imprecision must be in its source. Strict aliasing is off because nvcc lets
  // kernels reinterpret memory.
  std::vector<std::string> options = {"-std=c++17",
                                      "-O2",
                                      "-march=native",
                                      "-Wno-psabi",
                                      "-ffp-contract=off",
                                      "-fno-strict-aliasing",
                                      "-fPIC",
                                      "-fvisibility=hidden",
                                      "-w",
                                      "-I" + paths_.cpu_headers.string(),
                                      "-isystem",
                                      paths_.cuda_include.string()};
  if (checked) {
    options.insert(options.end(), {"-DEVO_CPU_CHECKED", "-fsanitize=thread", "--param", "tsan-distinguish-volatile=1", "--param",
                                   "tsan-instrument-func-entry-exit=0", "-fno-threadsafe-statics"});
  }
  return options;
}

CompileResult HostCompiler::Compile(const CompilerInput& request) {
  CompileResult result;
  HostSource host = ToHostSource(request.source);
  if (host.refusal) {
    result.outcome = host.refusal->message.find("clock") == std::string::npos ? Outcome::kUnsupported : Outcome::kCheating;
    result.message = host.refusal->message;
    return result;
  }
  std::string text = "#line 1 \"candidate.cu\"\n" + host.text + "\n#line 1 \"launch lines\"\n";
  for (std::size_t i = 0; i < request.kernel_expressions.size(); ++i) {
    const std::string symbol = fmt::format("evo_cpu_kernel_{}", i);
    text += fmt::format("EVO_CPU_EXPORT({}, {})\n", symbol, request.kernel_expressions[i]);
    result.program.kernels.push_back({request.kernel_expressions[i], symbol});
  }
  for (std::size_t i = 0; i < request.variables.size(); ++i) {
    const std::string symbol = fmt::format("evo_cpu_variable_{}", i);
    text += fmt::format("EVO_CPU_VARIABLE({}, {})\n", symbol, request.variables[i]);
    result.program.variables.push_back({request.variables[i], symbol});
  }
  const fs::path source = paths_.scratch / "kernel.cc";
  const fs::path image = paths_.scratch / "kernel.so";
  WriteFile(source, text);
  std::vector<std::string> arguments = Options(request.checked);
  // Symbols are bound at load time and their tables become read-only, so that only the kernel's own data stays writable. Without
  // the host's start files only a kernel's own code could run when the image is loaded.
  arguments.insert(arguments.end(), {"-include", (request.checked ? checked_prelude_ : prelude_).string(), "-shared",
                                     "-nostartfiles", "-Wl,-z,relro,-z,now", source.string(), "-o", image.string()});
  if (request.checked) {
    arguments.insert(arguments.end(),
                     {PreludeCache::Companion(checked_prelude_).string(), "-Wl,--wrap=memcpy,--wrap=memmove,--wrap=memset"});
  }
  // Without the sanitizer's library, and that of C++, which takes longer to look through than all else and is in every process
  // that loads an image.
  arguments.insert(arguments.end(), {"-nodefaultlibs", "-lm", "-lc", "-lgcc"});
  const CommandResult compiled = RunCommand(paths_.compiler, arguments, kHostCompilerRemedy);
  result.log = compiled.output;
  CutAll(result.log, paths_.scratch.string() + "/");
  if (result.log.size() > kLogBytes) result.log.resize(kLogBytes);
  if (compiled.status != 0) {
    result.message = FirstHostError(result.log);
    const bool ours = result.message.find("not supported on the cpu device") != std::string::npos;
    result.outcome = ours ? Outcome::kUnsupported : Outcome::kCompileError;
    return result;
  }
  std::string bytes = ReadFile(image);
  if (request.judged) {
    // -fsanitize=thread adds one that calls __tsan_init, which the prelude leaves empty.
    if (auto objection = ObjectionToImage(bytes, request.checked ? 1 : 0)) {
      result.outcome = Outcome::kUnsupported;
      result.message = std::move(*objection);
      return result;
    }
  }
  result.outcome = Outcome::kOk;
  result.program.image = std::move(bytes);
  return result;
}

}  // namespace evo
