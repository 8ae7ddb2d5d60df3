#include "evaluator/device/cuda/clock_monitor.h"

#include <cuda_runtime_api.h>

#include <array>
#include <utility>

#include "core/error.h"
#include "platform/shared_library.h"

namespace evo {
namespace {

// The part of NVML's binary interface that is used here, so that its header need not be installed. Documented in NVIDIA's NVML
// reference; unchanged since its version 2.
constexpr int kSuccess = 0;
constexpr unsigned kClockSm = 1;
constexpr unsigned kClockMemory = 2;
constexpr unsigned kTemperatureGpu = 0;

struct Reason {
  unsigned long long bit;
  const char* name;
  bool disturbs;
};
// Idle, application clocks and display are settings rather than events, and not listed.
constexpr std::array<Reason, 6> kReasons{{{0x04, "power cap", false},
                                          {0x08, "hardware slowdown", true},
                                          {0x10, "sync boost", false},
                                          {0x20, "thermal", true},
                                          {0x40, "hardware thermal", true},
                                          {0x80, "power brake", true}}};

}  // namespace

struct ClockMonitor::Library {
  using NvmlDevice = struct nvmlDevice_st*;

  Library() : shared("NVML", {}, {"libnvidia-ml.so.1"}, "install the NVIDIA driver") {
    shared.Resolve(init, "nvmlInit_v2");
    shared.Resolve(by_bus, "nvmlDeviceGetHandleByPciBusId_v2");
    shared.Resolve(clock, "nvmlDeviceGetClockInfo");
    shared.Resolve(max_clock, "nvmlDeviceGetMaxClockInfo");
    shared.Resolve(temperature, "nvmlDeviceGetTemperature");
    shared.Resolve(power, "nvmlDeviceGetPowerUsage");
    // Newer drivers call them "events" and keep the old name.
    shared.Resolve(reasons, "nvmlDeviceGetCurrentClocksThrottleReasons");
  }

  int Clock(unsigned kind) const {
    unsigned mhz = 0;
    return clock(device, kind, &mhz) == kSuccess ? static_cast<int>(mhz) : -1;
  }

  SharedLibrary shared;
  int (*init)() = nullptr;
  int (*by_bus)(const char*, NvmlDevice*) = nullptr;
  int (*clock)(NvmlDevice, unsigned, unsigned*) = nullptr;
  int (*max_clock)(NvmlDevice, unsigned, unsigned*) = nullptr;
  int (*temperature)(NvmlDevice, unsigned, unsigned*) = nullptr;
  int (*power)(NvmlDevice, unsigned*) = nullptr;
  int (*reasons)(NvmlDevice, unsigned long long*) = nullptr;
  NvmlDevice device = nullptr;
  int sm_max_mhz = -1;
};

std::unique_ptr<ClockMonitor::Library> ClockMonitor::Open(const std::string& bus) {
  try {
    auto library = std::make_unique<Library>();
    if (library->init() != kSuccess || library->by_bus(bus.c_str(), &library->device) != kSuccess) return nullptr;
    unsigned most = 0;
    if (library->max_clock(library->device, kClockSm, &most) == kSuccess) library->sm_max_mhz = static_cast<int>(most);
    return library;
  } catch (const Error&) {
    return nullptr;  // a driver without NVML can still run kernels
  }
}

ClockMonitor::ClockMonitor(int ordinal) {
  std::array<char, 32> bus{};
  if (cudaDeviceGetPCIBusId(bus.data(), static_cast<int>(bus.size()), ordinal) != cudaSuccess) return;
  opening_ = std::async(std::launch::async, &ClockMonitor::Open, std::string(bus.data()));
}

ClockMonitor::~ClockMonitor() = default;

ClockState ClockMonitor::Read() {
  if (opening_.valid()) library_ = opening_.get();
  ClockState state = Glance(std::chrono::milliseconds(0));
  if (library_ == nullptr) return state;
  state.memory_mhz = library_->Clock(kClockMemory);
  unsigned value = 0;
  if (library_->temperature(library_->device, kTemperatureGpu, &value) == kSuccess) state.temperature_c = static_cast<int>(value);
  if (library_->power(library_->device, &value) == kSuccess) state.power_w = value / 1000.0;
  return state;
}

ClockState ClockMonitor::Glance(std::chrono::milliseconds age) {
  if (opening_.valid() && opening_.wait_for(std::chrono::seconds(0)) == std::future_status::ready) library_ = opening_.get();
  const auto now = std::chrono::steady_clock::now();
  if (library_ == nullptr || (read_at_ != decltype(read_at_){} && now - read_at_ < age)) return last_;
  read_at_ = now;
  ClockState state;
  state.sm_mhz = library_->Clock(kClockSm);
  state.sm_max_mhz = library_->sm_max_mhz;
  unsigned long long reasons = 0;
  if (library_->reasons(library_->device, &reasons) != kSuccess) reasons = 0;
  for (const Reason& reason : kReasons) {
    if ((reasons & reason.bit) == 0) continue;
    state.throttle_reason += (state.throttle_reason.empty() ? "" : ", ") + std::string(reason.name);
    state.disturbed = state.disturbed || reason.disturbs;
  }
  last_ = std::move(state);
  return last_;
}

}  // namespace evo
