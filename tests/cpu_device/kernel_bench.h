#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "evaluator/compiler/host/host_compiler.h"
#include "evaluator/device/cpu/cpu_device.h"
#include "platform/installation.h"
#include "platform/user_cache.h"

namespace evo {

// Compiles and runs small kernels on the cpu device. One compiler for all tests of a program.
class CpuDeviceTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    const auto scratch = std::filesystem::temp_directory_path() / ("evo-cpu-device-test-" + std::to_string(::getpid()));
    compiler_ = std::make_unique<HostCompiler>(
        HostCompilerPaths{"g++", ShareDirectory() / "cpu", *CudaRoot() / "include", scratch, UserCacheFolder()});
  }
  static void TearDownTestSuite() { compiler_.reset(); }

  CompileResult Compile(const std::string& source, const std::string& kernel = "k", bool checked = false) {
    return compiler_->Compile({source, {kernel}, "", checked});
  }

  // A kernel that is expected to compile and load.
  std::unique_ptr<LoadedProgram> Load(const std::string& source, const std::string& kernel = "k", bool checked = false) {
    const CompileResult result = Compile(source, kernel, checked);
    EXPECT_EQ(result.outcome, Outcome::kOk) << result.message << "\n" << result.log;
    return Load(result);
  }

  std::unique_ptr<LoadedProgram> Load(const CompileResult& result) {
    LoadResult loaded = device_->Load(result.program, 1);
    EXPECT_TRUE(loaded.status.ok()) << loaded.status.message;
    return std::move(loaded.program);
  }

  template <typename T>
  Address Upload(const std::vector<T>& values) {
    const Address address = device_->memory().Allocate(values.size() * sizeof(T));
    std::memcpy(reinterpret_cast<void*>(address), values.data(), values.size() * sizeof(T));
    return address;
  }

  template <typename T>
  std::vector<T> Download(Address address, std::size_t count) {
    const T* values = reinterpret_cast<const T*>(address);
    return {values, values + count};
  }

  static DeviceLaunch Launch(std::array<std::uint32_t, 3> grid, std::array<std::uint32_t, 3> block,
                             std::vector<DeviceArgument> arguments, std::uint64_t shared = 0) {
    return {0, grid, block, {0, 0, 0}, shared, false, std::move(arguments)};
  }
  static ScalarUse Int(std::int64_t value) { return {Dtype::kI32, Number::Integer(value)}; }

  DeviceStatus Run(LoadedProgram& program, const DeviceLaunch& launch, std::uint64_t schedule = 0) {
    return device_->Run(program, {launch}, schedule);
  }

  std::unique_ptr<Device> device_ = MakeCpuDevice();
  static inline std::unique_ptr<HostCompiler> compiler_;
};

}  // namespace evo
