#pragma once

#include <fcntl.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <string>

namespace evo::testing {

// A terminal of a number of columns, and what was written to it.
class PseudoTerminal {
 public:
  explicit PseudoTerminal(unsigned short columns) {
    int terminal = -1;
    winsize size{24, columns, 0, 0};
    if (::openpty(&master_, &terminal, nullptr, nullptr, &size) != 0) return;
    ::fcntl(master_, F_SETFL, O_NONBLOCK);
    stream_ = ::fdopen(terminal, "w");
  }
  ~PseudoTerminal() {
    if (stream_ != nullptr) std::fclose(stream_);
    if (master_ >= 0) ::close(master_);
  }
  PseudoTerminal(const PseudoTerminal&) = delete;
  PseudoTerminal& operator=(const PseudoTerminal&) = delete;

  std::FILE* stream() { return stream_; }  // null if the system has no terminal left
  void Resize(unsigned short columns) {
    const winsize size{24, columns, 0, 0};
    ::ioctl(master_, TIOCSWINSZ, &size);
  }
  // What came since the last call.
  std::string Text() {
    std::fflush(stream_);
    std::string text;
    std::array<char, 4096> buffer{};
    for (ssize_t got = 0; (got = ::read(master_, buffer.data(), buffer.size())) > 0;)
      text.append(buffer.data(), static_cast<std::size_t>(got));
    return text;
  }

 private:
  int master_ = -1;
  std::FILE* stream_ = nullptr;
};

}  // namespace evo::testing
