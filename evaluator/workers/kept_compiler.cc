#include "evaluator/workers/kept_compiler.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <exception>
#include <optional>
#include <utility>

#include "core/digest.h"
#include "evaluator/messages/message_codec.h"
#include "evaluator/workers/protocol.h"
#include "platform/command.h"
#include "platform/user_cache.h"

namespace evo {
namespace {

// A file is the digest of the rest, and a message.
std::string ToFile(const CompileResult& result) {
  const std::string message = Encode(ToMessage(result));
  return Digest(message) + message;
}

std::optional<CompileResult> FromFile(const std::string& file) {
  const std::size_t digits = Digest("").size();
  if (file.size() < digits || Digest(std::string_view(file).substr(digits)) != file.substr(0, digits)) return std::nullopt;
  try {
    Decoder decoder;
    decoder.Feed(std::string_view(file).substr(digits));
    const auto message = decoder.Next(kReplyLimits);
    if (!message) return std::nullopt;
    CompileResult result = ToCompileResult(*message);
    if (result.outcome != Outcome::kOk || result.program.image.empty()) return std::nullopt;
    return result;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

}  // namespace

KeptCompiler::KeptCompiler(Compiler& compiler, std::string made_by, std::filesystem::path folder, Keep keep)
    : compiler_(compiler), made_by_(std::move(made_by)), folder_(std::move(folder)), keep_(std::move(keep)) {}

std::string KeptCompiler::NameOf(const CompilerInput& request) const {
  constexpr int kFormat = 1;
  return fmt::format("kernels-{}",
                     Digest(fmt::format("{}\n{}\n{}\n{}\n{}\n{}", kFormat, made_by_, request.arch, request.line_info,
                                        fmt::join(request.kernel_expressions, "\n"), request.source)));
}

CompileResult KeptCompiler::Compile(const CompilerInput& request) {
  if (folder_.empty()) return compiler_.Compile(request);
  const std::string name = NameOf(request);
  const std::filesystem::path file = folder_ / name;
  if (auto kept = IsOwnFile(file) ? FromFile(ReadFile(file)) : std::nullopt) return std::move(*kept);
  CompileResult result = compiler_.Compile(request);
  result.program.ptx.clear();
  if (result.outcome == Outcome::kOk) keep_(name, ToFile(result));
  return result;
}

}  // namespace evo
