#include "evaluator/workers/sanitizer.h"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <fstream>
#include <future>
#include <sstream>

#include "core/error.h"
#include "platform/command.h"

namespace evo {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTools[] = {"memcheck", "racecheck", "initcheck", "synccheck"};
constexpr std::string_view kMark = "========= ";

// The number after `label` in a line such as "ERROR SUMMARY: 3 errors"; -1 if there is none.
long CountAfter(const std::string& log, std::string_view label) {
  const std::size_t at = log.find(label);
  if (at == std::string::npos) return -1;
  long count = -1;
  const char* begin = log.data() + at + label.size();
  std::from_chars(begin, log.data() + log.size(), count);
  return count;
}

// The first line of the tool's report that is neither banner nor summary, and what the indented lines after it say of it: the
// other access of a race, the thread, the address.
std::string FirstFinding(const std::string& log) {
  constexpr int kDetails = 3;
  std::istringstream lines(log);
  std::string finding;
  int details = 0;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(kMark)) continue;
    line.erase(0, kMark.size());
    const bool detail = line.starts_with(" ");
    if (finding.empty()) {
      if (line.find("COMPUTE-SANITIZER") == std::string::npos && line.find("SUMMARY") == std::string::npos && !detail)
        finding = line;
    } else if (detail && details++ < kDetails && line.find("backtrace") == std::string::npos) {
      finding += " " + line.substr(line.find_first_not_of(' '));
    } else {
      return finding;
    }
  }
  return finding.empty() ? "the tool wrote no summary" : finding;
}

}  // namespace

std::optional<fs::path> FindComputeSanitizer(const fs::path& cuda_root) {
  for (const fs::path& place : {cuda_root / "bin" / "compute-sanitizer", cuda_root / "compute-sanitizer" / "compute-sanitizer"}) {
    std::error_code failed;
    if (fs::exists(place, failed)) return place;
  }
  return std::nullopt;
}

ToolResult ReadSanitizerLog(const std::string& tool, const std::string& log) {
  const long errors = CountAfter(log, "ERROR SUMMARY: ");
  const long hazards = CountAfter(log, "RACECHECK SUMMARY: ");
  if (errors > 0 || hazards > 0) return {tool, "error", FirstFinding(log)};
  if (errors == 0 || hazards == 0) return {tool, "clean", ""};
  return {tool, "unsupported", FirstFinding(log)};
}

Sanitizer::Sanitizer(const fs::path& cuda_root, WorkerPoolOptions options, Message setup)
    : program_(FindComputeSanitizer(cuda_root)),
      options_(std::move(options)),
      setup_(std::move(setup)),
      run_([this](const std::string& tool, const Job& job, const std::stop_token& stop) {
        return program_ ? RunTool(tool, job, stop) : ToolResult{tool, "missing", "the CUDA toolkit has no compute-sanitizer"};
      }) {}

Sanitizer::Sanitizer(Run run) : run_(std::move(run)) {}

std::vector<ToolResult> Sanitizer::Check(const Job& job, const std::string& size, const std::stop_token& stop) const {
  std::stop_source others;
  const std::stop_callback forward(stop, [&] { others.request_stop(); });
  std::vector<std::future<ToolResult>> running;
  for (const char* tool : kTools) {
    running.push_back(std::async(std::launch::async, [this, tool, &job, &others] {
      ToolResult result = run_(tool, job, others.get_token());
      if (FoundFault(result)) others.request_stop();
      return result;
    }));
  }
  std::vector<ToolResult> results;
  for (std::future<ToolResult>& one : running) {
    ToolResult result = one.get();
    // Without a fault of its own, a tool that was stopped has nothing to say.
    if (others.stop_requested() && !FoundFault(result) && result.result != "clean") continue;
    if (!size.empty()) result.tool += " at " + size;
    results.push_back(std::move(result));
  }
  return results;
}

ToolResult Sanitizer::RunTool(const std::string& tool, const Job& job, const std::stop_token& stop) const {
  const fs::path log = fs::temp_directory_path() / fmt::format("evo-sanitizer-{}-{}.log", ::getpid(), tool);
  WorkerPoolOptions options = options_;
  std::vector<std::string> argv = {program_->string(), "--tool", tool, "--log-file", log.string(), "--print-limit", "3"};
  // Our worker asks for a kernel's parameters until the answer is an error; memcheck must not report that one.
  // The padding keeps allocations apart, so that an access behind one does not fall into the next.
  if (tool == std::string("memcheck")) argv.insert(argv.end(), {"--report-api-errors", "no", "--padding", "512"});
  argv.insert(argv.end(), options.argv.begin(), options.argv.end());
  options.argv = std::move(argv);
  options.name = tool;
  options.fresh = true;
  // A tool writes its summary only when the program that it watches has ended by itself.
  options.end_gracefully = true;
  JobResult result;
  {
    WorkerPool pool(options);
    pool.SetSetup(setup_);
    result = RunAndWait(pool, {job}, stop).front();
  }  // the log is complete when the worker has ended
  const std::string text = ReadFile(log);
  std::error_code ignored;
  fs::remove(log, ignored);
  if (result.death && result.death->kind == WorkerDeath::Kind::kDeadline)
    return {tool, "timeout", "the tool did not end in time"};
  ToolResult read = ReadSanitizerLog(tool, text);
  if (read.result == "unsupported" && text.empty() && result.death) read.message = result.death->description;
  return read;
}

}  // namespace evo
