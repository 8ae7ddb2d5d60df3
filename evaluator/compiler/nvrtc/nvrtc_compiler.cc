#include "evaluator/compiler/nvrtc/nvrtc_compiler.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <variant>
#include <vector>

#include "core/error.h"
#include "evaluator/compiler/nvrtc/compiler_log.h"
#include "evaluator/compiler/nvrtc/cubin_sections.h"
#include "evaluator/compiler/nvrtc/instruction_mix.h"
#include "evaluator/compiler/nvrtc/ptx_checks.h"

namespace evo {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kRealArch = "sm_";
constexpr std::size_t kMaxLogBytes = 16 * 1024;
// The static shared memory that a block may have on every architecture. ptxas allows more for sm_90a, but a launch can only
// request more dynamic shared memory.
constexpr int kMaxStaticSharedBytes = 48 * 1024;

// NVRTC maps the file into memory and dies of a disk that fills meanwhile: one such file has 13 MB, and other workers write
// theirs.
constexpr std::uintmax_t kRoomForHeaders = 64 << 20;
// What it says where it cannot map the file.
constexpr const char* kCannotMap = "Catastrophic error: unable to obtain mapped memory";

std::vector<std::string> Options(const NvrtcPaths& paths, const CompilerInput& request, const std::string& arch,
                                 bool precompiles) {
  std::vector<std::string> options = {
      "--gpu-architecture=" + arch,
      // The newest standard that is the default of nvcc and of NVRTC in CUDA 12 and 13, so that an exported kernel means the same
      // in both.
      "--std=c++17",
      // Puts registers, shared memory, stack and spills into the log.
      "--ptxas-options=-v",
      // What nvcc gives a kernel without an #include, as part of the precompiled header where there is one.
      "--pre-include=nvcc_implicit.h",
      "--device-int128",
      // Omits textures, surfaces and the device run-time library, which a candidate may not use, and saves 4 ms a compile.
      "--minimal",
      // Writes "error: ..." instead of "error #20: ...".
      "--no-display-error-number",
      "--include-path=" + paths.standard_headers.string(),
      "--include-path=" + (paths.cuda_root / "include").string(),
      "--include-path=" + (paths.cuda_root / "include" / "cccl").string(),
  };
  if (request.line_info) options.push_back("--generate-line-info");
  // There is no fast-math and no register cap, since such choices belong into a candidate's source. Headers are precompiled only
  // with the marker, because without it every parameter value would get a precompiled header of its own, of 13 MB.
  if (precompiles && request.source.find("#pragma nv_hdrstop") != std::string::npos) {
    options.push_back("--pch");
    options.push_back("--pch-dir=" + paths.precompiled_headers.string());
    options.push_back("--pch-messages=false");
  }
  return options;
}

CompileResult Refuse(CompileResult result, Outcome outcome, std::string message) {
  result.program = {};
  result.outcome = outcome;
  result.message = std::move(message);
  return result;
}

// Throws for results that are about the tool chain and not about the candidate.
void ThrowIfToolchainFailed(const NvrtcLibrary& nvrtc, nvrtcResult result, const std::string& arch, const std::string& log) {
  switch (result) {
    case NVRTC_ERROR_INVALID_OPTION:
      throw Error(
          fmt::format("{}: NVRTC {} does not support {} or an option ({}); choose another --arch or install another CUDA toolkit",
                      nvrtc.file().string(), nvrtc.version(), arch, log.substr(0, log.find('\n'))));
    case NVRTC_ERROR_BUILTIN_OPERATION_FAILURE:
      throw Error(fmt::format("{}: cannot use its libnvrtc-builtins; install the CUDA toolkit again", nvrtc.file().string()));
    default:
      return;
  }
}

}  // namespace

NvrtcCompiler::NvrtcCompiler(NvrtcPaths paths) : paths_(std::move(paths)), nvrtc_(paths_.cuda_root) {
  if (!fs::exists(paths_.cuda_root / "include" / "cuda_fp16.h")) {
    throw Error(fmt::format("{}: has no include/cuda_fp16.h; install the CUDA toolkit's headers and point CUDA_HOME at it",
                            paths_.cuda_root.string()));
  }
  if (!fs::exists(paths_.standard_headers / "cstdint")) {
    throw Error(fmt::format("{}: has no cstdint; unpack or build evo again", paths_.standard_headers.string()));
  }
  std::error_code failed;
  fs::create_directories(paths_.precompiled_headers, failed);
  if (failed)
    throw Error(fmt::format("{}: cannot be created ({}); give a folder that can be written", paths_.precompiled_headers.string(),
                            failed.message()));
  const fs::path ptxas = paths_.cuda_root / "bin" / "ptxas";
  if (!paths_.assembled.empty() && fs::exists(ptxas, failed)) assembler_.emplace(ptxas, paths_.assembled);
}

NvrtcCompiler::~NvrtcCompiler() {
  std::error_code ignored;
  fs::remove_all(paths_.precompiled_headers, ignored);
}

bool NvrtcCompiler::HasRoomForHeaders() const {
  std::error_code failed;
  const fs::space_info space = fs::space(paths_.precompiled_headers, failed);
  return failed || space.available >= kRoomForHeaders;
}

CompileResult NvrtcCompiler::Compile(const CompilerInput& request) {
  CompileResult result;
  NvrtcProgram program(nvrtc_, request.source, kCompiledName);
  for (const std::string& expression : request.kernel_expressions) {
    if (nvrtc_.functions().add_name_expression(program.handle(), expression.c_str()) != NVRTC_SUCCESS) {
      return Refuse(std::move(result), Outcome::kCompileError, fmt::format("{}: cannot be the name of a kernel", expression));
    }
  }
  for (const std::string& variable : request.variables) {
    if (nvrtc_.functions().add_name_expression(program.handle(), ("&" + variable).c_str()) != NVRTC_SUCCESS)
      return Refuse(std::move(result), Outcome::kCompileError, fmt::format("{}: cannot be the name of a variable", variable));
  }
  // NVRTC's own assembler writes the lines.
  const bool assembles = assembler_ && !request.line_info && request.arch.starts_with(kRealArch);
  const std::string arch = assembles ? "compute_" + request.arch.substr(kRealArch.size()) : request.arch;
  const std::vector<std::string> options = Options(paths_, request, arch, precompiles_ && HasRoomForHeaders());
  std::vector<const char*> arguments;
  for (const std::string& option : options) arguments.push_back(option.c_str());
  const nvrtcResult compiled =
      nvrtc_.functions().compile_program(program.handle(), static_cast<int>(arguments.size()), arguments.data());
  std::string log = program.Log();
  ThrowIfToolchainFailed(nvrtc_, compiled, request.arch, log);
  if (compiled != NVRTC_SUCCESS && precompiles_ && log.find(kCannotMap) != std::string::npos) {
    precompiles_ = false;
    return Compile(request);
  }
  result.log = CapLog(log, kMaxLogBytes);
  const auto refuse_by_log = [&] {
    CompileFailure failure = ExplainLog(log, kCompiledName);
    return Refuse(std::move(result), failure.outcome, std::move(failure.message));
  };
  // An evolved template can exhaust the memory of any compiler.
  if (compiled == NVRTC_ERROR_OUT_OF_MEMORY)
    return Refuse(std::move(result), Outcome::kResourceLimit, "the compiler ran out of memory");
  if (compiled != NVRTC_SUCCESS) return refuse_by_log();

  result.program.ptx = program.Ptx();
  if (auto objection = CheckPtx(result.program.ptx))
    return Refuse(std::move(result), objection->outcome, std::move(objection->message));
  const std::vector<std::string> entries = EntryNames(result.program.ptx);
  std::vector<std::string> symbols;
  for (const std::string& expression : request.kernel_expressions) {
    const char* symbol = nullptr;
    if (nvrtc_.functions().get_lowered_name(program.handle(), expression.c_str(), &symbol) != NVRTC_SUCCESS ||
        std::find(entries.begin(), entries.end(), symbol) == entries.end()) {
      return Refuse(std::move(result), Outcome::kCompileError, fmt::format("{}: is not a __global__ function", expression));
    }
    symbols.emplace_back(symbol);
    result.program.kernels.push_back({expression, symbol});
  }
  const std::vector<std::string> declared = VariableNames(result.program.ptx);
  for (const std::string& variable : request.variables) {
    const char* symbol = nullptr;
    if (nvrtc_.functions().get_lowered_name(program.handle(), ("&" + variable).c_str(), &symbol) != NVRTC_SUCCESS ||
        std::find(declared.begin(), declared.end(), symbol) == declared.end()) {
      return Refuse(std::move(result), Outcome::kCompileError, fmt::format("{}: is not a __constant__ variable", variable));
    }
    result.program.variables.push_back({variable, symbol});
  }
  if (assembles) {
    Assembler::Assembled assembled;
    try {
      assembled = assembler_->Assemble(result.program.ptx, request.arch);
    } catch (const Error&) {
      // The disk is full or ptxas is gone, which must not fail a candidate: NVRTC assembles from now on.
      assembler_.reset();
      return Compile(request);
    }
    log += assembled.log;
    result.log = CapLog(log, kMaxLogBytes);
    if (!assembled.ok) return refuse_by_log();
    result.program.image = std::move(assembled.cubin);
  } else {
    result.program.image = program.Cubin();
  }
  if (!result.program.image.empty()) {
    auto sections = LastingSections(result.program.image, declared);
    if (const auto* objection = std::get_if<CubinObjection>(&sections))
      return Refuse(std::move(result), Outcome::kUnsupported, objection->message);
    result.program.sections = std::get<std::vector<ImageSection>>(std::move(sections));
  }
  result.facts = ReadPtxasReport(log, symbols);
  if (!result.program.image.empty()) result.facts.mix = CountInstructions(result.program.image, request.arch);
  if (result.facts.static_shared_bytes > kMaxStaticSharedBytes) {
    const std::string reason =
        fmt::format("{} bytes of static shared memory, {} at most; use extern __shared__ and shared() in the launch line",
                    result.facts.static_shared_bytes, kMaxStaticSharedBytes);
    return Refuse(std::move(result), Outcome::kResourceLimit, reason);
  }
  result.outcome = Outcome::kOk;
  return result;
}

}  // namespace evo
