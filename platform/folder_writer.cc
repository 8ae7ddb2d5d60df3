#include "platform/folder_writer.h"

#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <exception>
#include <system_error>

#include "platform/command.h"
#include "platform/user_cache.h"

namespace evo {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostNameBytes = 256;
constexpr std::uint64_t kMostContentBytes = 64 << 20;

bool SendAll(int socket, const char* bytes, std::size_t count) {
  while (count > 0) {
    const ssize_t sent = ::send(socket, bytes, count, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    bytes += sent;
    count -= static_cast<std::size_t>(sent);
  }
  return true;
}

bool ReceiveAll(int socket, char* bytes, std::size_t count) {
  while (count > 0) {
    const ssize_t got = ::recv(socket, bytes, count, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    bytes += got;
    count -= static_cast<std::size_t>(got);
  }
  return true;
}

void WriteWhole(const fs::path& folder, const std::string& name, const std::string& contents) {
  const fs::path own = OwnFolder(folder);
  if (own.empty() || name.empty() || name.find('/') != std::string::npos) return;
  std::string made = (own / "new-XXXXXX").string();
  const Descriptor file(::mkstemp(made.data()));
  if (file.get() < 0) return;
  std::error_code failed;
  try {
    WriteFile(made, contents);
    fs::rename(made, own / name, failed);
  } catch (const std::exception&) {
    failed = std::make_error_code(std::errc::io_error);
  }
  std::error_code ignored;
  if (failed) fs::remove(made, ignored);
}

void WriteUntilTheEnd(int socket, const fs::path& folder) {
  std::array<std::uint64_t, 2> sizes{};
  while (ReceiveAll(socket, reinterpret_cast<char*>(sizes.data()), sizeof(sizes))) {
    if (sizes[0] > kMostNameBytes || sizes[1] > kMostContentBytes) break;
    std::string name(sizes[0], '\0');
    std::string contents(sizes[1], '\0');
    if (!ReceiveAll(socket, name.data(), name.size()) || !ReceiveAll(socket, contents.data(), contents.size())) break;
    WriteWhole(folder, name, contents);
  }
}

}  // namespace

FolderWriter::FolderWriter(const fs::path& folder) {
  std::array<int, 2> ends{};
  if (folder.empty() || ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) return;
  socket_ = Descriptor(ends[0]);
  Descriptor other(ends[1]);
  const pid_t parent = ::getpid();
  child_ = ::fork();
  if (child_ < 0) socket_.Close();
  if (child_ != 0) return;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  socket_.Close();
  if (::getppid() != parent) ::_exit(0);
  try {
    WriteUntilTheEnd(other.get(), folder);
  } catch (...) {  // the parent's code is not the child's to go on with
  }
  ::_exit(0);  // what this process has of its parent's is the parent's to remove
}

FolderWriter::~FolderWriter() {
  socket_.Close();
  while (child_ > 0 && ::waitpid(child_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void FolderWriter::Write(std::string_view name, std::string_view contents) {
  if (socket_.get() < 0) return;
  const std::array<std::uint64_t, 2> sizes{name.size(), contents.size()};
  const bool sent = SendAll(socket_.get(), reinterpret_cast<const char*>(sizes.data()), sizeof(sizes)) &&
                    SendAll(socket_.get(), name.data(), name.size()) && SendAll(socket_.get(), contents.data(), contents.size());
  if (!sent) socket_.Close();
}

}  // namespace evo
