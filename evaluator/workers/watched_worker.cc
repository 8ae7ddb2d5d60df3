#include "evaluator/workers/watched_worker.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "evaluator/workers/protocol.h"
#include "platform/command.h"
#include "platform/installation.h"
#include "platform/kept_process.h"

namespace evo {
namespace {

namespace fs = std::filesystem;

// Of a report: its summary stands at the end.
constexpr std::size_t kKeptOfEachEnd = 32 << 10;

// After the worker, to a coordinator that may have gone.
void WriteLast(const Message& message) {
  ::signal(SIGPIPE, SIG_IGN);
  const std::string bytes = Encode(message);
  for (std::size_t sent = 0; sent < bytes.size();) {
    const ssize_t n = ::write(STDOUT_FILENO, bytes.data() + sent, bytes.size() - sent);
    if (n < 0 && errno != EINTR) return;
    if (n > 0) sent += static_cast<std::size_t>(n);
  }
}

// As a header can hold it, and its two ends if it is long.
std::string Sendable(std::string text) {
  if (text.size() > 2 * kKeptOfEachEnd) text.erase(kKeptOfEachEnd, text.size() - 2 * kKeptOfEachEnd);
  const auto odd = [](unsigned char c) { return c != '\n' && (c < ' ' || c > '~'); };
  std::replace_if(text.begin(), text.end(), odd, '?');
  return text;
}

[[noreturn]] void Become(std::vector<std::string> words) {
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  ::execv(argv.front(), argv.data());
  const std::string why = fmt::format("{}: {}\n", argv.front(), std::strerror(errno));
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, why.data(), why.size());
  ::_exit(127);
}

}  // namespace

std::optional<fs::path> FindComputeSanitizer(const fs::path& cuda_root) {
  for (const fs::path& place : {cuda_root / "bin" / "compute-sanitizer", cuda_root / "compute-sanitizer" / "compute-sanitizer"}) {
    std::error_code failed;
    if (fs::exists(place, failed)) return place;
  }
  return std::nullopt;
}

std::vector<std::string> WatchedBy(const fs::path& sanitizer, const std::string& tool, const fs::path& log) {
  std::vector<std::string> words = {sanitizer.string(), "--tool", tool, "--log-file", log.string(), "--print-limit", "3"};
  // Our worker asks for a kernel's parameters until the answer is an error; memcheck must not report that one.
  // The padding keeps allocations apart, so that an access behind one does not fall into the next.
  if (tool == "memcheck") words.insert(words.end(), {"--report-api-errors", "no", "--padding", "512"});
  return words;
}

int RunWatched(const std::string& tool, const fs::path& folder, const std::string& host, std::chrono::milliseconds grace) {
  const auto sanitizer = FindComputeSanitizer(CudaRoot().value_or(""));
  if (!sanitizer) {
    WriteLast({{{"type", "failed"}, {"message", kNoSanitizer}, {"host", host}}, {}});
    return 1;
  }
  const fs::path log = folder / fmt::format("evo-sanitizer-{}-{}.log", ::getpid(), tool);
  std::vector<std::string> words = WatchedBy(*sanitizer, tool, log);
  words.push_back(fs::read_symlink("/proc/self/exe").string());
  const int status = RunKept([&]() -> int { Become(std::move(words)); }, grace);
  const std::string report = ReadFile(log);
  std::error_code ignored;
  fs::remove(log, ignored);
  WriteLast({{{"type", "log"}, {"text", Sendable(report)}}, {}});
  return status;
}

}  // namespace evo
