#include "evaluator/workers/waiting_jobs.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <system_error>

#include "core/error.h"

namespace evo {
namespace {

std::uint32_t* Map(int file, int access) {
  void* memory = ::mmap(nullptr, sizeof(std::uint32_t), access, MAP_SHARED, file, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<std::uint32_t*>(memory);
}

}  // namespace

WaitingJobs::WaitingJobs() : file_(::memfd_create("evo-waiting", MFD_CLOEXEC)) {
  if (file_.get() >= 0 && ::ftruncate(file_.get(), sizeof(std::uint32_t)) == 0) count_ = Map(file_.get(), PROT_READ | PROT_WRITE);
  if (count_ != nullptr) return;
  throw Error(fmt::format("cannot share memory with workers: {}", std::generic_category().message(errno)));
}

WaitingJobs::~WaitingJobs() { ::munmap(count_, sizeof(std::uint32_t)); }

void WaitingJobs::Set(std::size_t count) {
  std::atomic_ref(*count_).store(static_cast<std::uint32_t>(count), std::memory_order_relaxed);
}

std::string WaitingJobs::path() const { return fmt::format("/proc/{}/fd/{}", ::getpid(), file_.get()); }

WaitingJobsView::WaitingJobsView(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return;
  // On another machine, where a launcher may have started this process, the path may name something else.
  struct stat found {};
  if (::fstat(file.get(), &found) == 0 && S_ISREG(found.st_mode) && found.st_size == sizeof(std::uint32_t))
    count_ = Map(file.get(), PROT_READ);
}

WaitingJobsView::~WaitingJobsView() {
  if (count_ != nullptr) ::munmap(count_, sizeof(std::uint32_t));
}

bool WaitingJobsView::Any() const { return count_ == nullptr || std::atomic_ref(*count_).load(std::memory_order_relaxed) > 0; }

}  // namespace evo
