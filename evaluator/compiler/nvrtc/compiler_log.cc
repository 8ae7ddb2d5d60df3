#include "evaluator/compiler/nvrtc/compiler_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

namespace evo {
namespace {

std::vector<std::string_view> Lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// Reads a line `FILE(12): error: what`, also with "catastrophic error". The message has the line, and the name of a file other
// than the source without its folder.
std::optional<std::string> FrontEndError(std::string_view line, std::string_view source_name) {
  constexpr std::array<std::string_view, 2> kMarks = {"): error: ", "): catastrophic error: "};
  for (const std::string_view mark : kMarks) {
    const std::size_t at = line.find(mark);
    if (at == std::string_view::npos) continue;
    const std::size_t open = line.rfind('(', at);
    if (open == std::string_view::npos) continue;
    const std::string_view what = line.substr(at + mark.size());
    std::string_view file = line.substr(0, open);
    // NVRTC compiles the expressions of the kernels as a file of its own.
    if (file == "__nv_name_map") return fmt::format("a kernel to be launched: {}", what);
    const std::string_view number = line.substr(open + 1, at - open - 1);
    if (file == source_name) return fmt::format("line {}: {}", number, what);
    file.remove_prefix(file.rfind('/') == std::string_view::npos ? 0 : file.rfind('/') + 1);
    return fmt::format("{} line {}: {}", file, number, what);
  }
  return std::nullopt;
}

// Reads a line `ptxas error   : what` or `ptxas application ptx input, line 23; error   : what`, also with "fatal".
std::optional<std::string> PtxasError(std::string_view line) {
  const std::size_t ptxas = line.find("ptxas ");
  if (ptxas == std::string_view::npos) return std::nullopt;
  for (const std::string_view kind : {"error   : ", "fatal   : "}) {
    const std::size_t at = line.find(kind, ptxas);
    if (at != std::string_view::npos) return fmt::format("ptxas: {}", line.substr(at + kind.size()));
  }
  return std::nullopt;
}

Outcome Classify(std::string_view message) {
  struct Known {
    std::string_view text;
    Outcome outcome;
  };
  // "too much shared data", "too much global constant data", "too much parameter space", "Formal parameter space overflowed"
  static constexpr Known kKnown[] = {
      {"uses too much", Outcome::kResourceLimit},
      {"too many registers", Outcome::kResourceLimit},
      {"Insufficient registers", Outcome::kResourceLimit},
      {"parameter space overflowed", Outcome::kResourceLimit},
      {"host functions are not allowed in JIT mode", Outcome::kUnsupported},
      {"marked as a __host__ function is not allowed in JIT mode", Outcome::kUnsupported},
      {"device-side kernel launch", Outcome::kCheating},
      {"kernel launch from __device__ or __global__ functions", Outcome::kCheating},
  };
  for (const Known& known : kKnown) {
    if (message.find(known.text) != std::string_view::npos) return known.outcome;
  }
  return Outcome::kCompileError;
}

// The integer right before `unit` in a line of the report; -1 if there is none.
int NumberBefore(std::string_view line, std::string_view unit) {
  const std::size_t at = line.find(unit);
  if (at == std::string_view::npos) return -1;
  std::size_t begin = at;
  while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9') --begin;
  int number = -1;
  std::from_chars(line.data() + begin, line.data() + at, number);
  return number;
}

void Raise(int& fact, int value) { fact = std::max(fact, value); }

}  // namespace

CompileFailure ExplainLog(std::string_view log, std::string_view source_name) {
  for (const std::string_view line : Lines(log)) {
    std::optional<std::string> message = FrontEndError(line, source_name);
    if (!message) message = PtxasError(line);
    if (!message) continue;
    CompileFailure failure{Classify(*message), *message};
    const std::string_view place = std::string_view(failure.message).substr(0, failure.message.find(": "));
    if (failure.outcome == Outcome::kUnsupported) {
      failure.message =
          fmt::format("{}: a host function; only device code is compiled here: mark it __device__ or take it out", place);
    } else if (failure.outcome == Outcome::kCheating) {
      failure.message = fmt::format("{}: launches a kernel from the device; only declared launches run", place);
    }
    return failure;
  }
  return {Outcome::kCompileError, "the compiler failed and gave no reason"};
}

KernelFacts ReadPtxasReport(std::string_view log, const std::vector<std::string>& symbols) {
  KernelFacts facts;
  constexpr std::string_view kEntry = "Compiling entry function '";
  constexpr std::string_view kProperties = "Function properties for ";
  bool requested = false;
  for (const std::string_view line : Lines(log)) {
    if (const std::size_t at = line.find(kEntry); at != std::string_view::npos) {
      const std::string_view rest = line.substr(at + kEntry.size());
      requested = std::find(symbols.begin(), symbols.end(), rest.substr(0, rest.find('\''))) != symbols.end();
    } else if (const std::size_t properties = line.find(kProperties); properties != std::string_view::npos) {
      // A function that is not inlined has a stack frame of its own, which counts for the kernel before it in the report.
      requested =
          requested || std::find(symbols.begin(), symbols.end(), line.substr(properties + kProperties.size())) != symbols.end();
    } else if (requested && line.find(" bytes stack frame") != std::string_view::npos) {
      Raise(facts.local_bytes, NumberBefore(line, " bytes stack frame"));
      Raise(facts.spill_bytes, NumberBefore(line, " bytes spill stores") + NumberBefore(line, " bytes spill loads"));
    } else if (requested && line.find(" registers") != std::string_view::npos) {
      Raise(facts.registers, NumberBefore(line, " registers"));
      // ptxas does not mention shared memory if there is none.
      Raise(facts.static_shared_bytes, std::max(0, NumberBefore(line, " bytes smem")));
    }
  }
  return facts;
}

std::string CapLog(std::string log, std::size_t most) {
  if (log.size() <= most) return log;
  constexpr std::size_t kRoomForNote = 64;
  const std::size_t kept = most - kRoomForNote;
  const std::size_t dropped = log.size() - kept;
  log.resize(kept);
  return log + fmt::format("\n[{} bytes more]", dropped);
}

}  // namespace evo
