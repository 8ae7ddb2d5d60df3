#include "platform/command.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/readable_pipe.hpp>
#include <boost/process/v2/environment.hpp>
#include <boost/process/v2/posix/vfork_launcher.hpp>
#include <boost/process/v2/process.hpp>
#include <boost/process/v2/stdio.hpp>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <regex>
#include <sstream>

#include "core/error.h"
#include "platform/die_with_thread.h"
#include "platform/disk_full.h"

namespace evo {
namespace {

namespace bp = boost::process::v2;
namespace fs = std::filesystem;

constexpr std::size_t kMostOutput = 1 << 20;

// The environment of this process, and those of the other variables whose names are not set in it.
std::vector<std::string> EnvironmentWith(const std::vector<std::pair<std::string, std::string>>& others) {
  std::vector<std::string> all;
  for (char** variable = environ; *variable != nullptr; ++variable) all.emplace_back(*variable);
  for (const auto& [name, value] : others) {
    const auto has_name = [start = name + "="](const std::string& variable) { return variable.starts_with(start); };
    if (std::none_of(all.begin(), all.end(), has_name)) all.push_back(name + "=" + value);
  }
  return all;
}

// Sets the environment of a process. The initializer of Boost 1.81 for this does not link.
struct SetEnvironment {
  std::vector<const char*> variables;  // the last is null
  boost::system::error_code on_setup(bp::posix::default_launcher& launcher, const bp::filesystem::path&, const char* const*) {
    launcher.env = variables.data();
    return {};
  }
};

// All that the other side writes; what is over the limit is read and dropped.
std::string ReadToEnd(boost::asio::readable_pipe& pipe) {
  std::string text;
  std::array<char, 1 << 14> bytes;
  for (boost::system::error_code end; !end;) {
    const std::size_t count = pipe.read_some(boost::asio::buffer(bytes), end);
    text.append(bytes.data(), std::min(count, kMostOutput - text.size()));
  }
  return text;
}

// What g++ or its collect2 say of a program of theirs that was killed; empty if they say nothing like that.
std::string KilledPart(const std::string& output) {
  const auto found = FindInLines(output, R"(^[^ ]*: fatal error: ((?:Killed|Terminated|Hangup) signal terminated program .*|)"
                                         R"(.* terminated with signal (?:1|9|15) .*))");
  return found.empty() ? "" : found[1];
}

}  // namespace

bool ComesFromOutside(int signal) { return signal == SIGKILL || signal == SIGTERM || signal == SIGHUP || signal == SIGINT; }

CommandResult RunCommand(const fs::path& program, const std::vector<std::string>& arguments, const std::string& remedy,
                         const std::vector<std::pair<std::string, std::string>>& environment) {
  boost::asio::io_context context;
  boost::asio::readable_pipe output(context);
  auto found =
      program.has_parent_path() ? bp::filesystem::path(program.string()) : bp::environment::find_executable(program.string());
  if (found.empty()) throw Error(fmt::format("{} is not installed; {}", program.string(), remedy));
  // vfork does not copy the page tables of this process: a compile worker maps some hundred megabytes.
  boost::system::error_code failed;
  const std::vector<std::string> variables = EnvironmentWith(environment);
  SetEnvironment set;
  for (const std::string& variable : variables) set.variables.push_back(variable.c_str());
  set.variables.push_back(nullptr);
  bp::process process = bp::posix::vfork_launcher()(context, failed, found, arguments,
                                                    bp::process_stdio{nullptr, nullptr, output}, set, DieWithThread{});
  if (failed) throw Error(fmt::format("{} cannot be run ({}); {}", program.string(), failed.message(), remedy));
  CommandResult result;
  result.output = ReadToEnd(output);
  result.status = process.wait();
  if (const int status = process.native_exit_code(); WIFSIGNALED(status) && ComesFromOutside(WTERMSIG(status)))
    throw CommandKilled(fmt::format("{}: killed by signal {} ({})", program.filename().string(), WTERMSIG(status),
                                    ::strsignal(WTERMSIG(status))));
  if (const std::string part = result.status == 0 ? "" : KilledPart(result.output); !part.empty())
    throw CommandKilled(fmt::format("{}: {}", program.filename().string(), part));
  if (result.status != 0 && SaysDiskIsFull(result.output)) throw DiskFull(fs::temp_directory_path());
  return result;
}

void CutAll(std::string& text, const std::string& what) {
  if (what.empty()) return;
  for (std::size_t at; (at = text.find(what)) != std::string::npos;) text.erase(at, what.size());
}

std::vector<std::string> FindInLines(const std::string& output, const std::string& pattern) {
  constexpr std::size_t kMostOfLine = 2000;
  const std::regex regex(pattern);
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    line.resize(std::min(line.size(), kMostOfLine));
    std::smatch match;
    if (std::regex_search(line, match, regex)) return {match.begin(), match.end()};
  }
  return {};
}

std::string ReadFile(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void WriteFile(const fs::path& file, const std::string& text) {
  errno = 0;
  std::ofstream out(file, std::ios::binary);
  out << text;
  out.close();
  if (out) return;
  if (errno == ENOSPC || errno == EDQUOT) throw DiskFull(file.parent_path());
  throw Error(fmt::format("{}: cannot be written; is the disk full?", file.string()));
}

}  // namespace evo
