#include "platform/piped_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/process/v2/environment.hpp>
#include <boost/process/v2/posix/vfork_launcher.hpp>
#include <boost/process/v2/process.hpp>
#include <boost/process/v2/stdio.hpp>
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/error.h"
#include "platform/die_with_thread.h"

namespace evo {
namespace {

namespace bp = boost::process::v2;

constexpr std::size_t kMostWords = 1 << 16;
// From the end of its pipe to the end of the process.
constexpr std::chrono::milliseconds kLongestEnd{1000};

std::pair<Descriptor, Descriptor> MakePipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw Error(fmt::format("cannot make a pipe: {}", std::strerror(errno)));
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

// Whether the descriptor is ready before the deadline.
bool IsReady(int fd, short events, PipedProcess::Time deadline) {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) return false;
    pollfd one{fd, events, 0};
    const int ready = ::poll(&one, 1, static_cast<int>(std::min<std::int64_t>(left.count(), 1000)));
    if (ready > 0 || (ready < 0 && errno != EINTR)) return true;
  }
}

}  // namespace

PipedProcess::PipedProcess(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                           const std::string& remedy) {
  ::signal(SIGPIPE, SIG_IGN);
  const auto found =
      program.has_parent_path() ? bp::filesystem::path(program.string()) : bp::environment::find_executable(program.string());
  if (found.empty()) throw Error(fmt::format("{} is not installed; {}", program.string(), remedy));
  auto [child_in, to] = MakePipe();
  auto [from, child_out] = MakePipe();
  errors_ = Descriptor(::memfd_create("standard error", MFD_CLOEXEC));
  boost::asio::io_context context;
  boost::system::error_code failed;
  bp::process process = bp::posix::vfork_launcher()(
      context, failed, found, arguments, bp::process_stdio{child_in.get(), child_out.get(), errors_.get()}, DieWithThread{});
  if (failed) throw Error(fmt::format("{} cannot be run ({}); {}", program.string(), failed.message(), remedy));
  pid_ = process.id();
  process.detach();  // Boost would wait for it without a deadline
  ::fcntl(to.get(), F_SETFL, O_NONBLOCK);
  to_ = std::move(to);
  from_ = std::move(from);
}

// A confined process must not send signals; one that is confined ends soon, and the program with it.
PipedProcess::~PipedProcess() {
  to_.Close();
  from_.Close();
  siginfo_t info{};
  ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG);
}

PipedProcess::Talk PipedProcess::Write(std::string_view bytes, Time deadline) {
  while (!bytes.empty()) {
    if (!IsReady(to_.get(), POLLOUT, deadline)) return Talk::kLate;
    const ssize_t n = ::write(to_.get(), bytes.data(), bytes.size());
    if (n > 0) bytes.remove_prefix(static_cast<std::size_t>(n));
    if (n < 0 && errno != EINTR && errno != EAGAIN) return Talk::kEnded;
  }
  return Talk::kDone;
}

PipedProcess::Talk PipedProcess::Read(std::string& bytes, Time deadline) {
  std::array<char, 1 << 16> piece;
  for (;;) {
    if (!IsReady(from_.get(), POLLIN, deadline)) return Talk::kLate;
    const ssize_t n = ::read(from_.get(), piece.data(), piece.size());
    if (n > 0) {
      bytes.append(piece.data(), static_cast<std::size_t>(n));
      return Talk::kDone;
    }
    if (n == 0 || errno != EINTR) return Talk::kEnded;
  }
}

std::string PipedProcess::HowItEnded() const {
  const auto end = std::chrono::steady_clock::now() + kLongestEnd;
  siginfo_t info{};
  // WNOWAIT: a later call is to say the same.
  while (::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != pid_ &&
         std::chrono::steady_clock::now() < end)
    ::usleep(1000);
  if (info.si_pid != pid_) return "it answers no more";
  if (info.si_code == CLD_EXITED) return fmt::format("exit status {}", info.si_status);
  return fmt::format("killed by signal {} ({})", info.si_status, ::strsignal(info.si_status));
}

std::string PipedProcess::LastWords() const {
  struct stat file {};
  if (::fstat(errors_.get(), &file) != 0) return {};
  const auto size = static_cast<std::size_t>(file.st_size);
  std::string words(std::min(size, kMostWords), '\0');
  const ssize_t n = ::pread(errors_.get(), words.data(), words.size(), static_cast<off_t>(size - words.size()));
  words.resize(static_cast<std::size_t>(std::max<ssize_t>(n, 0)));
  return words;
}

}  // namespace evo
