#pragma once

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <boost/process/v2/posix/vfork_launcher.hpp>

namespace evo {

// Initialiser of a child process: it dies when the thread that starts it does. Runs in the child, which shares our memory until
// exec.
struct DieWithThread {
  pid_t parent = ::getpid();
  template <typename Launcher>
  boost::system::error_code on_exec_setup(Launcher&, const boost::process::v2::filesystem::path&, const char* const*(&)) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(127);
    return {};
  }
};

}  // namespace evo
