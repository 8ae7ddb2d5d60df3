#include "evaluator/device/cpu/cpu_program.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <string>
#include <utility>

#include "evaluator/device/cpu/simt_runtime.h"

namespace evo {
namespace {

std::string PathOf(int file) { return fmt::format("/proc/self/fd/{}", file); }

}  // namespace

LoadResult CpuProgram::Load(const CompiledProgram& compiled) {
  const int file = ::memfd_create("evo-kernel", MFD_CLOEXEC);
  const auto written = ::write(file, compiled.image.data(), compiled.image.size());
  void* library = nullptr;
  if (written == static_cast<ssize_t>(compiled.image.size())) library = ::dlopen(PathOf(file).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    ::close(file);
    return {{Outcome::kLaunchError, fmt::format("the image cannot be loaded: {}", ::dlerror()), false}, nullptr};
  }
  // The file stays open as long as the image: the dynamic linker knows images by path, and the path contains the descriptor's
  // number.
  auto program = std::make_unique<CpuProgram>(library, file);
  if (!program->Connect()) return {{Outcome::kLaunchError, "the image is not one of the cpu device's", false}, nullptr};
  for (const CompiledKernel& kernel : compiled.kernels) {
    const auto* found = static_cast<const evo_cpu_kernel*>(::dlsym(library, kernel.symbol.c_str()));
    if (found == nullptr)
      return {{Outcome::kLaunchError, fmt::format("kernel {} is not in the image", kernel.expression), false}, nullptr};
    program->kernels_.push_back({found, kernel.expression});
  }
  return {{}, std::move(program)};
}

bool CpuProgram::Connect() {
  auto** runtime = static_cast<const evo_cpu_services**>(::dlsym(library_, "evo_cpu_runtime"));
  current_ = static_cast<evo_cpu_thread**>(::dlsym(library_, "evo_cpu_current"));
  checker_ = static_cast<const evo_cpu_checks**>(::dlsym(library_, "evo_cpu_checker"));
  if (runtime == nullptr || current_ == nullptr) return false;
  *runtime = SimtRuntime::Services();
  if (checker_ != nullptr) *checker_ = SimtRuntime::Checks();
  segments_ = SegmentsOf(library_);
  for (const ModuleSegment& segment : segments_) data_.Add(segment.begin, segment.bytes, !segment.variable);
  return true;
}

CpuProgram::~CpuProgram() {
  if (poisoned) return;
  ::dlclose(library_);
  // Some images cannot be unloaded: those with unique symbols, or with data of a thread. The next image must not get such a one's
  // path, or the linker would take it for the old image.
  if (::dlopen(PathOf(file_).c_str(), RTLD_NOW | RTLD_NOLOAD) == nullptr) ::close(file_);
}

KernelFacts CpuProgram::facts() const {
  KernelFacts facts;
  facts.static_shared_bytes = static_cast<int>(static_shared);
  facts.dynamic_shared_bytes = static_cast<int>(dynamic_shared);
  return facts;
}

std::vector<DeviceRange> CpuProgram::Places(const std::string& symbol) const {
  const auto* variable = static_cast<const evo_cpu_variable*>(::dlsym(library_, symbol.c_str()));
  if (variable == nullptr) return {};
  return {{reinterpret_cast<Address>(variable->address), variable->bytes}};
}

std::vector<DeviceRange> CpuProgram::State() const {
  std::vector<DeviceRange> state;
  for (const ModuleSegment& segment : segments_) {
    if (!segment.variable) continue;
    // Leaves out our own variable in the image, which differs after each launch.
    const std::uintptr_t current = reinterpret_cast<std::uintptr_t>(current_);
    const std::uintptr_t end = segment.begin + segment.bytes;
    if (current < segment.begin || current >= end) {
      state.push_back({segment.begin, segment.bytes});
      continue;
    }
    state.push_back({segment.begin, current - segment.begin});
    state.push_back({current + sizeof *current_, end - current - sizeof *current_});
  }
  return state;
}

}  // namespace evo
