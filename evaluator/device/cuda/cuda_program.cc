#include "evaluator/device/cuda/cuda_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "evaluator/device/cuda/cuda_error.h"
#include "evaluator/device/cuda/cuda_memory.h"
#include "evaluator/device/cuda/tensor_map_encoder.h"
#include "evaluator/device/scalar_bytes.h"

namespace evo {
namespace {

// CUDA's own limits on a block in z, and on a grid in y and z (x: 2^31-1), for every compute capability (CUDA programming guide,
// "Technical Specifications per Compute Capability").
constexpr std::uint32_t kMaxBlockZ = 64;
constexpr std::uint32_t kMaxGridYZ = 65535;
constexpr std::uint32_t kMaxGridX = 2147483647;
// Every device with clusters accepts this many blocks in a cluster; an attribute must allow more.
constexpr std::uint64_t kPortableCluster = 8;
constexpr int kWarpThreads = 32;

std::uint64_t Product(const std::array<std::uint32_t, 3>& extent) { return std::uint64_t{extent[0]} * extent[1] * extent[2]; }

bool HasCluster(const DeviceLaunch& launch) { return Product(launch.cluster) > 0; }

DeviceStatus Limit(std::string message) { return {Outcome::kResourceLimit, std::move(message), false}; }
DeviceStatus Wrong(std::string message) { return {Outcome::kLaunchError, std::move(message), false}; }

dim3 ToDim3(const std::array<std::uint32_t, 3>& extent) { return dim3(extent[0], extent[1], extent[2]); }

// The size of each parameter. The toolkit reports one at a time and fails for the first that does not exist.
std::vector<std::size_t> ParameterBytes(cudaKernel_t kernel) {
  std::vector<std::size_t> bytes;
  std::size_t offset = 0;
  std::size_t size = 0;
  while (cudaFuncGetParamInfo(reinterpret_cast<const void*>(kernel), bytes.size(), &offset, &size) == cudaSuccess)
    bytes.push_back(size);
  cudaGetLastError();
  return bytes;
}

}  // namespace

CudaProgram::~CudaProgram() {
  for (cudaLibrary_t library : libraries_) {
    if (cudaLibraryUnload(library) != cudaSuccess) cudaGetLastError();
  }
}

DeviceStatus CudaProgram::Load(const CompiledProgram& program, std::size_t placements) {
  image_ = program.image;
  for (const CompiledKernel& compiled : program.kernels) kernels_.emplace_back().symbol = compiled.symbol;
  while (libraries_.size() < placements) {
    cudaLibrary_t library = nullptr;
    const cudaError_t error = cudaLibraryLoadData(&library, program.image.data(), nullptr, nullptr, 0, nullptr, nullptr, 0);
    if (error != cudaSuccess) return ToStatus(error, "cudaLibraryLoadData");
    libraries_.push_back(library);
    if (DeviceStatus status = FindKernels(library); !status.ok()) return status;
    for (const ImageSection& section : program.sections) {
      if (DeviceStatus status = FindSection(library, section); !status.ok()) return status;
    }
  }
  return {};
}

DeviceStatus CudaProgram::FindKernels(cudaLibrary_t library) {
  for (Kernel& kernel : kernels_) {
    cudaKernel_t handle = nullptr;
    cudaError_t error = cudaLibraryGetKernel(&handle, library, kernel.symbol.c_str());
    if (error != cudaSuccess) return ToStatus(error, fmt::format("cudaLibraryGetKernel({})", kernel.symbol).c_str());
    // A driver that loads lazily loads the code here, not in the first launch.
    error = cudaFuncGetAttributes(&kernel.attributes, reinterpret_cast<const void*>(handle));
    if (error != cudaSuccess) return ToStatus(error, fmt::format("cudaFuncGetAttributes({})", kernel.symbol).c_str());
    if (kernel.placements.empty()) kernel.parameter_bytes = ParameterBytes(handle);
    kernel.placements.push_back(handle);
  }
  return {};
}

std::size_t CudaProgram::local_bytes() const {
  std::size_t most = 0;
  for (const Kernel& kernel : kernels_) most = std::max(most, kernel.attributes.localSizeBytes);
  return most;
}

bool CudaProgram::Has(const std::string& symbol) const {
  return std::any_of(kernels_.begin(), kernels_.end(), [&](const Kernel& kernel) { return kernel.symbol == symbol; });
}

// Every variable of the section is watched where the driver has put it; the driver may place variables of one section apart.
// Two names must not lead to one variable.
DeviceStatus CudaProgram::FindSection(cudaLibrary_t library, const ImageSection& section) {
  for (const ImageSymbol& symbol : section.symbols) {
    void* address = nullptr;
    std::size_t bytes = 0;
    const bool found = cudaLibraryGetGlobal(&address, &bytes, library, symbol.name.c_str()) == cudaSuccess;
    if (!found) cudaGetLastError();
    const auto begin = reinterpret_cast<Address>(address);
    const bool taken =
        std::any_of(state_.begin(), state_.end(), [&](const DeviceRange& range) { return range.address == begin; });
    if (!found || taken) {
      return {Outcome::kUnsupported,
              fmt::format("the variable {} cannot be watched for state that one launch leaves to the next ({}); make it neither "
                          "static nor const",
                          symbol.name, found ? "another one has its place" : "the driver does not find it"),
              false};
    }
    state_.push_back({begin, std::max<std::size_t>(bytes, symbol.bytes)});
    names_.push_back(symbol.name);
  }
  return {};
}

std::vector<DeviceRange> CudaProgram::Places(const std::string& symbol) const {
  std::vector<DeviceRange> places;
  for (std::size_t i = 0; i < state_.size(); ++i) {
    if (names_[i] == symbol) places.push_back(state_[i]);
  }
  return places;
}

DeviceStatus CudaProgram::Prepare(const DeviceLaunch& launch) {
  if (launch.kernel >= kernels_.size()) return Wrong(fmt::format("launches kernel {} of {}", launch.kernel, kernels_.size()));
  Kernel& kernel = kernels_[launch.kernel];
  if (DeviceStatus status = CheckShape(kernel, launch); !status.ok()) return status;
  if (DeviceStatus status = CheckArguments(kernel, launch); !status.ok()) return status;
  if (DeviceStatus status = RaiseAttributes(kernel, launch); !status.ok()) return status;
  kernel.launched = true;
  kernel.last_threads = static_cast<int>(Product(launch.block));
  kernel.last_shared_bytes = launch.shared_bytes;
  return {};
}

DeviceStatus CudaProgram::CheckShape(const Kernel& kernel, const DeviceLaunch& launch) const {
  const auto& [grid_x, grid_y, grid_z] = launch.grid;
  const std::uint64_t threads = Product(launch.block);
  if (threads == 0 || Product(launch.grid) == 0) return Wrong(fmt::format("{}: an empty grid or block", kernel.symbol));
  if (threads > static_cast<std::uint64_t>(device_.max_threads_per_block)) {
    return Limit(fmt::format("{}: {} threads a block, {} at most", kernel.symbol, threads, device_.max_threads_per_block));
  }
  if (threads > static_cast<std::uint64_t>(kernel.attributes.maxThreadsPerBlock)) {
    return Limit(fmt::format("{}: {} threads a block, {} at most with its {} registers a thread and its __launch_bounds__",
                             kernel.symbol, threads, kernel.attributes.maxThreadsPerBlock, kernel.attributes.numRegs));
  }
  if (launch.block[2] > kMaxBlockZ)
    return Limit(fmt::format("{}: {} threads in z, {} at most", kernel.symbol, launch.block[2], kMaxBlockZ));
  if (grid_x > kMaxGridX || grid_y > kMaxGridYZ || grid_z > kMaxGridYZ) {
    return Limit(fmt::format("{}: a grid of {} x {} x {} blocks, {} x {} x {} at most", kernel.symbol, grid_x, grid_y, grid_z,
                             kMaxGridX, kMaxGridYZ, kMaxGridYZ));
  }
  const std::uint64_t shared = kernel.attributes.sharedSizeBytes + launch.shared_bytes;
  if (shared > device_.shared_bytes_per_block_optin || launch.shared_bytes > device_.shared_bytes_per_block_optin) {
    return Limit(fmt::format("{}: {} bytes of shared memory ({} static, {} dynamic), {} at most", kernel.symbol, shared,
                             kernel.attributes.sharedSizeBytes, launch.shared_bytes, device_.shared_bytes_per_block_optin));
  }
  if (HasCluster(launch)) {
    for (std::size_t i = 0; i < 3; ++i) {
      if (launch.grid[i] % launch.cluster[i] != 0) {
        return Wrong(fmt::format("{}: a grid of {} blocks is no multiple of the cluster's {}", kernel.symbol, launch.grid[i],
                                 launch.cluster[i]));
      }
    }
  }
  return {};
}

DeviceStatus CudaProgram::CheckArguments(const Kernel& kernel, const DeviceLaunch& launch) const {
  const std::size_t taken = kernel.parameter_bytes.size();
  if (launch.arguments.size() != taken) {
    return Wrong(fmt::format("{}: launched with {} arguments, takes {}", kernel.symbol, launch.arguments.size(), taken));
  }
  for (std::size_t i = 0; i < taken; ++i) {
    std::size_t given = 0;
    if (const auto* map = std::get_if<DeviceTensorMap>(&launch.arguments[i])) {
      EncodedTensorMap encoded;
      if (DeviceStatus status = Encode(*map, encoded); !status.ok()) return status;
      given = sizeof(encoded);
    } else {
      const auto bytes = ArgumentBytes(launch.arguments[i]);
      if (!bytes) return Wrong(fmt::format("{}: argument {} does not fit its type", kernel.symbol, i + 1));
      given = bytes->size();
    }
    if (given != kernel.parameter_bytes[i]) {
      return Wrong(fmt::format("{}: argument {} has {} bytes, the kernel takes {}", kernel.symbol, i + 1, given,
                               kernel.parameter_bytes[i]));
    }
  }
  return {};
}

DeviceStatus CudaProgram::RaiseAttributes(Kernel& kernel, const DeviceLaunch& launch) const {
  // Static and dynamic shared memory together have a default limit; beyond it the dynamic part must be declared by an attribute.
  if (kernel.attributes.sharedSizeBytes + launch.shared_bytes > device_.shared_bytes_per_block &&
      launch.shared_bytes > kernel.raised_shared_bytes) {
    for (cudaKernel_t placed : kernel.placements) {
      const cudaError_t error =
          cudaFuncSetAttribute(reinterpret_cast<const void*>(placed), cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(launch.shared_bytes));
      if (error == cudaSuccess) continue;
      DeviceStatus status = ToStatus(
          error,
          fmt::format("cudaFuncSetAttribute({}, {} bytes of dynamic shared memory)", kernel.symbol, launch.shared_bytes).c_str());
      if (!status.sticky) status.outcome = Outcome::kResourceLimit;
      return status;
    }
    kernel.raised_shared_bytes = launch.shared_bytes;
  }
  if (Product(launch.cluster) > kPortableCluster) {
    for (cudaKernel_t placed : kernel.placements) {
      const cudaError_t error =
          cudaFuncSetAttribute(reinterpret_cast<const void*>(placed), cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
      if (error != cudaSuccess)
        return ToStatus(error, fmt::format("cudaFuncSetAttribute({}, a cluster of more than 8 blocks)", kernel.symbol).c_str());
    }
  }
  return {};
}

DeviceStatus CudaProgram::Enqueue(const DeviceLaunch& launch, cudaStream_t stream) {
  const Kernel& kernel = kernels_[launch.kernel];
  std::vector<std::vector<std::byte>> values(launch.arguments.size());
  std::vector<EncodedTensorMap> maps(launch.arguments.size());
  std::vector<void*> arguments;
  for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
    if (const auto* map = std::get_if<DeviceTensorMap>(&launch.arguments[i])) {
      if (DeviceStatus status = Encode(*map, maps[i]); !status.ok()) return status;
      arguments.push_back(maps[i].bytes.data());
      continue;
    }
    values[i] = ArgumentBytes(launch.arguments[i]).value_or(std::vector<std::byte>{});
    arguments.push_back(values[i].data());
  }
  std::array<cudaLaunchAttribute, 2> attributes{};
  cudaLaunchConfig_t config{};
  config.gridDim = ToDim3(launch.grid);
  config.blockDim = ToDim3(launch.block);
  config.dynamicSmemBytes = launch.shared_bytes;
  config.stream = stream;
  config.attrs = attributes.data();
  if (HasCluster(launch)) {
    cudaLaunchAttribute& cluster = attributes[config.numAttrs++];
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim.x = launch.cluster[0];
    cluster.val.clusterDim.y = launch.cluster[1];
    cluster.val.clusterDim.z = launch.cluster[2];
  }
  if (launch.cooperative) {
    cudaLaunchAttribute& cooperative = attributes[config.numAttrs++];
    cooperative.id = cudaLaunchAttributeCooperative;
    cooperative.val.cooperative = 1;
  }
  return Launch(kernel, config, arguments.data());
}

DeviceStatus CudaProgram::EnqueueRaw(std::size_t kernel, dim3 grid, dim3 block, void** arguments, cudaStream_t stream) {
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = block;
  config.stream = stream;
  return Launch(kernels_[kernel], config, arguments);
}

DeviceStatus CudaProgram::Launch(const Kernel& kernel, const cudaLaunchConfig_t& config, void** arguments) const {
  cudaKernel_t placed = kernel.placements[turn_ % kernel.placements.size()];
  cudaError_t error = cudaLaunchKernelExC(&config, reinterpret_cast<const void*>(placed), arguments);
  if (error == cudaSuccess) error = cudaGetLastError();
  return error == cudaSuccess ? DeviceStatus{} : ToStatus(error, fmt::format("launch of {}", kernel.symbol).c_str());
}

double CudaProgram::Occupancy(const Kernel& kernel) const {
  int blocks = 0;
  if (cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, reinterpret_cast<const void*>(kernel.placements.front()),
                                                    kernel.last_threads, kernel.last_shared_bytes) != cudaSuccess) {
    cudaGetLastError();
    return kNoValue;
  }
  const int warps = (kernel.last_threads + kWarpThreads - 1) / kWarpThreads;
  return static_cast<double>(blocks) * warps / max_warps_;
}

KernelFacts CudaProgram::facts() const {
  KernelFacts facts;
  for (const Kernel& kernel : kernels_) {
    facts.registers = std::max(facts.registers, kernel.attributes.numRegs);
    facts.static_shared_bytes = std::max(facts.static_shared_bytes, static_cast<int>(kernel.attributes.sharedSizeBytes));
    facts.local_bytes = std::max(facts.local_bytes, static_cast<int>(kernel.attributes.localSizeBytes));
    if (!kernel.launched) continue;
    facts.dynamic_shared_bytes = std::max(facts.dynamic_shared_bytes, static_cast<int>(kernel.last_shared_bytes));
    // fmax ignores a NaN.
    facts.occupancy = std::fmax(facts.occupancy, Occupancy(kernel));
  }
  return facts;
}

}  // namespace evo
