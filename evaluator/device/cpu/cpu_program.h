#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "evaluator/device/cpu/include/evo_cpu/abi.h"
#include "evaluator/device/cpu/memory_map.h"
#include "evaluator/device/cpu/module_data.h"
#include "evaluator/device/device.h"

namespace evo {

// A shared object made by HostCompiler, loaded from memory.
class CpuProgram : public LoadedProgram {
 public:
  static LoadResult Load(const CompiledProgram& compiled);

  CpuProgram(void* library, int file) : library_(library), file_(file) {}
  ~CpuProgram() override;

  KernelFacts facts() const override;
  std::vector<DeviceRange> State() const override;
  std::vector<DeviceRange> Places(const std::string& symbol) const override;

  const evo_cpu_kernel* kernel(std::size_t index) const { return kernels_.at(index).entry; }
  const std::string& name(std::size_t index) const { return kernels_.at(index).name; }
  evo_cpu_thread** current() const { return current_; }
  // The module's own data if it was compiled with checked accesses, else null.
  MemoryMap* checked_data() { return checker_ != nullptr ? &data_ : nullptr; }

  bool poisoned = false;          // fibers hold frames of its code
  std::size_t static_shared = 0;  // the most that a launch took
  std::size_t dynamic_shared = 0;

 private:
  struct Kernel {
    const evo_cpu_kernel* entry;
    std::string name;  // "scale<4>"
  };

  // False if HostCompiler did not make the image.
  bool Connect();

  void* library_;
  int file_;
  evo_cpu_thread** current_ = nullptr;
  const evo_cpu_checks** checker_ = nullptr;
  std::vector<ModuleSegment> segments_;
  MemoryMap data_;
  std::vector<Kernel> kernels_;
};

}  // namespace evo
