#include "cli/standard_output.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "cli/print.h"

namespace evo {

void OccupyStandardDescriptors() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) >= 0 || errno != EBADF) continue;
    // The lowest free number is this one. For reading only: what is printed there must not seem to be written.
    if (::open("/dev/null", O_RDONLY) < 0) return;
  }
}

int FinishOutput(std::FILE* out, std::FILE* messages, int status, int error) {
  bool failed = std::ferror(out) != 0;
  errno = 0;
  if (std::fclose(out) != 0) {
    failed = true;
    if (error == 0) error = errno;
  }
  if (!failed) return status;
  if (error == EPIPE) return status == 0 ? kReaderGone : status;
  Print(messages, "evo: the output could not be written ({})\n", error == 0 ? "the cause is not known" : std::strerror(error));
  return status == 0 ? 1 : status;
}

}  // namespace evo
