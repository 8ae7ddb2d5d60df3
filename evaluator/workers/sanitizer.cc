#include "evaluator/workers/sanitizer.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <exception>
#include <fstream>
#include <iterator>
#include <sstream>
#include <utility>
#include <variant>

#include "core/error.h"
#include "evaluator/messages/message_codec.h"
#include "evaluator/messages/requests.h"
#include "evaluator/workers/tools_side_by_side.h"
#include "evaluator/workers/watched_worker.h"
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

ToolResult ResultOf(const std::string& tool, const std::string& log, const JobResult& job) {
  const std::optional<WorkerDeath>& death = job.death;
  if (death && death->kind == WorkerDeath::Kind::kDeadline) return {tool, "timeout", "the tool did not end in time"};
  ToolResult read = ReadSanitizerLog(tool, log);
  if (read.result == "clean") return WithAnswer(std::move(read), job);
  if (read.result != "unsupported" || !log.empty() || !death) return read;
  const bool missing = death->kind == WorkerDeath::Kind::kCannotStart && death->description.ends_with(kNoSanitizer);
  return {tool, missing ? "missing" : read.result, death->description};
}

}  // namespace

ToolResult ReadSanitizerLog(const std::string& tool, const std::string& log) {
  const long errors = CountAfter(log, "ERROR SUMMARY: ");
  const long hazards = CountAfter(log, "RACECHECK SUMMARY: ");
  if (errors > 0 || hazards > 0) return {tool, "error", FirstFinding(log)};
  if (errors == 0 || hazards == 0) return {tool, "clean", ""};
  return {tool, "unsupported", FirstFinding(log)};
}

ToolResult WithAnswer(ToolResult clean, const JobResult& job) {
  if (!job.reply) return {clean.tool, "unsupported", job.death ? job.death->description : "the worker did not answer"};
  std::variant<SmallCaseResult, InfrastructureReport> answer;
  try {
    answer = FromReply<SmallCaseResult>(*job.reply);
  } catch (const std::exception&) {
    return clean;  // the tool watched whatever has spoilt the answer
  }
  if (const auto* report = std::get_if<InfrastructureReport>(&answer))
    return {clean.tool, "unsupported", "the kernel did not run under the tool: " + report->message};
  const std::string& failure = std::get<SmallCaseResult>(answer).failure;
  if (!failure.empty()) clean.message = "wrong under the tool: " + failure;
  return clean;
}

Sanitizer::Sanitizer(const fs::path& cuda_root, WorkerPoolOptions options, Message setup)
    : program_(FindComputeSanitizer(cuda_root)),
      options_(std::move(options)),
      setup_(std::move(setup)),
      run_([this](const std::string& tool, const Job& job, const std::stop_token& stop) {
        return program_ || options_.launched ? RunTool(tool, job, stop) : ToolResult{tool, "missing", kNoSanitizer};
      }) {}

Sanitizer::Sanitizer(Run run) : run_(std::move(run)) {}

std::vector<ToolRun> Sanitizer::Check(const std::vector<ToolCase>& cases, std::size_t memory_bytes,
                                      const std::stop_token& stop) const {
  return ToolsSideBySide(run_, {std::begin(kTools), std::end(kTools)}, cases, memory_bytes).Run(stop);
}

ToolResult Sanitizer::RunTool(const std::string& tool, const Job& job, const std::stop_token& stop) const {
  WorkerPoolOptions options = options_;
  options.name = tool;
  options.fresh = true;
  // A tool writes its summary only when the program that it watches has ended by itself.
  options.end_gracefully = true;
  static std::atomic<int> number = 0;  // one tool may run on two cases at once
  const fs::path log = fs::temp_directory_path() / fmt::format("evo-sanitizer-{}-{}-{}.log", ::getpid(), tool, ++number);
  if (options.launched) {
    // The tool is on the machine of the worker, whose keeper starts it and sends what it has written.
    std::vector<std::string>& argv = options.argv_of_worker.empty() ? options.argv : options.argv_of_worker.front();
    argv.insert(argv.end(), {kWatchedBy, tool});
  } else {
    std::vector<std::string> argv = WatchedBy(*program_, tool, log);
    argv.insert(argv.end(), options.argv.begin(), options.argv.end());
    options.argv = std::move(argv);
  }
  JobResult result;
  {
    WorkerPool pool(options);
    pool.SetSetup(setup_);
    result = RunAndWait(pool, {job}, stop).front();
  }  // the log is complete when the worker has ended
  std::string text = std::move(result.tool_log);
  if (!options.launched) {
    text = ReadFile(log);
    std::error_code ignored;
    fs::remove(log, ignored);
  }
  return ResultOf(tool, text, result);
}

}  // namespace evo
