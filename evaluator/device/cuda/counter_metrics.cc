#include "evaluator/device/cuda/counter_metrics.h"

#include <algorithm>
#include <string_view>

namespace evo {
namespace {

constexpr double kPercent = 0.01;

constexpr const char* kDuration = "gpu__time_duration.sum";  // in nanoseconds

// A counter that is a metric of CUPTI, in percent.
struct Counted {
  const char* metric;
  double HardwareCounters::*field;
};
constexpr Counted kCounted[] = {
    {"gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", &HardwareCounters::dram},
    {"lts__t_sectors.avg.pct_of_peak_sustained_elapsed", &HardwareCounters::l2},
    {"l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed", &HardwareCounters::l1},
    {"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed", &HardwareCounters::tensor},
    {"sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_elapsed", &HardwareCounters::fma},
    {"sm__inst_executed_pipe_alu.avg.pct_of_peak_sustained_elapsed", &HardwareCounters::alu},
    {"sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_elapsed", &HardwareCounters::xu},
    {"sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_elapsed", &HardwareCounters::lsu},
    {"smsp__issue_active.avg.pct_of_peak_sustained_elapsed", &HardwareCounters::issue},
    {"sm__warps_active.avg.pct_of_peak_sustained_active", &HardwareCounters::active_warps},
};

// A counter that is the share of one metric in another.
struct ShareOf {
  const char* part;
  const char* whole;
  double HardwareCounters::*field;
};
constexpr const char* kWarps = "smsp__warps_active.sum";
constexpr ShareOf kShares[] = {
    {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
     &HardwareCounters::bank_conflicts},
    {"smsp__warps_issue_stalled_long_scoreboard.sum", kWarps, &HardwareCounters::wait_memory},
    {"smsp__warps_issue_stalled_short_scoreboard.sum", kWarps, &HardwareCounters::wait_shared},
    {"smsp__warps_issue_stalled_barrier.sum", kWarps, &HardwareCounters::wait_barrier},
    {"smsp__warps_issue_stalled_math_pipe_throttle.sum", kWarps, &HardwareCounters::wait_math},
    {"smsp__warps_issue_stalled_mio_throttle.sum", kWarps, &HardwareCounters::wait_queue},
    {"smsp__warps_issue_stalled_lg_throttle.sum", kWarps, &HardwareCounters::wait_load_queue},
    {"smsp__warps_issue_stalled_wait.sum", kWarps, &HardwareCounters::wait_fixed},
};

std::vector<const char*> WantedNames() {
  std::vector<const char*> names;
  const auto add = [&](const char* name) {
    if (std::find(names.begin(), names.end(), std::string_view(name)) == names.end()) names.push_back(name);
  };
  // In this order a Hopper needs four passes, in the other five.
  for (const ShareOf& one : kShares) {
    add(one.part);
    add(one.whole);
  }
  add(kDuration);
  for (const Counted& one : kCounted) add(one.metric);
  return names;
}

}  // namespace

CounterMetrics::CounterMetrics(const CuptiLibrary& cupti, const std::string& chip, std::span<const std::uint8_t> availability)
    : cupti_(cupti) {
  cupti.Resolve(functions_.initialize, "cuptiProfilerHostInitialize");
  cupti.Resolve(functions_.deinitialize, "cuptiProfilerHostDeinitialize");
  cupti.Resolve(functions_.add_metrics, "cuptiProfilerHostConfigAddMetrics");
  cupti.Resolve(functions_.config_image_size, "cuptiProfilerHostGetConfigImageSize");
  cupti.Resolve(functions_.config_image, "cuptiProfilerHostGetConfigImage");
  cupti.Resolve(functions_.passes, "cuptiProfilerHostGetNumOfPasses");
  cupti.Resolve(functions_.evaluate, "cuptiProfilerHostEvaluateToGpuValues");
  KeepKnownNames(availability, chip);
  host_ = Open(availability, chip);
  cupti.Require(Add(host_, names_), "cuptiProfilerHostConfigAddMetrics");
  CUpti_Profiler_Host_GetConfigImageSize_Params size{};
  size.structSize = CUpti_Profiler_Host_GetConfigImageSize_Params_STRUCT_SIZE;
  size.pHostObject = host_;
  cupti.Require(functions_.config_image_size(&size), "cuptiProfilerHostGetConfigImageSize");
  config_image_.resize(size.configImageSize);
  CUpti_Profiler_Host_GetConfigImage_Params image{};
  image.structSize = CUpti_Profiler_Host_GetConfigImage_Params_STRUCT_SIZE;
  image.pHostObject = host_;
  image.configImageSize = config_image_.size();
  image.pConfigImage = config_image_.data();
  cupti.Require(functions_.config_image(&image), "cuptiProfilerHostGetConfigImage");
  CUpti_Profiler_Host_GetNumOfPasses_Params passes{};
  passes.structSize = CUpti_Profiler_Host_GetNumOfPasses_Params_STRUCT_SIZE;
  passes.configImageSize = config_image_.size();
  passes.pConfigImage = config_image_.data();
  cupti.Require(functions_.passes(&passes), "cuptiProfilerHostGetNumOfPasses");
  passes_ = passes.numOfPasses;
}

CounterMetrics::~CounterMetrics() {
  CUpti_Profiler_Host_Deinitialize_Params params{};
  params.structSize = CUpti_Profiler_Host_Deinitialize_Params_STRUCT_SIZE;
  params.pHostObject = host_;
  functions_.deinitialize(&params);
}

CUpti_Profiler_Host_Object* CounterMetrics::Open(std::span<const std::uint8_t> availability, const std::string& chip) const {
  CUpti_Profiler_Host_Initialize_Params params{};
  params.structSize = CUpti_Profiler_Host_Initialize_Params_STRUCT_SIZE;
  params.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
  params.pChipName = chip.c_str();
  params.pCounterAvailabilityImage = availability.empty() ? nullptr : availability.data();
  cupti_.Require(functions_.initialize(&params), "cuptiProfilerHostInitialize");
  return params.pHostObject;
}

CUptiResult CounterMetrics::Add(CUpti_Profiler_Host_Object* host, std::vector<const char*>& names) const {
  CUpti_Profiler_Host_ConfigAddMetrics_Params params{};
  params.structSize = CUpti_Profiler_Host_ConfigAddMetrics_Params_STRUCT_SIZE;
  params.pHostObject = host;
  params.ppMetricNames = names.data();
  params.numMetrics = names.size();
  return functions_.add_metrics(&params);
}

// CUPTI refuses a list with one name that it does not know, so each is asked for alone.
void CounterMetrics::KeepKnownNames(std::span<const std::uint8_t> availability, const std::string& chip) {
  CUpti_Profiler_Host_Object* host = Open(availability, chip);
  for (const char* name : WantedNames()) {
    std::vector<const char*> alone{name};
    if (Add(host, alone) == CUPTI_SUCCESS) names_.push_back(name);
  }
  CUpti_Profiler_Host_Deinitialize_Params params{};
  params.structSize = CUpti_Profiler_Host_Deinitialize_Params_STRUCT_SIZE;
  params.pHostObject = host;
  functions_.deinitialize(&params);
}

std::vector<double> CounterMetrics::ValuesOf(std::span<const std::uint8_t> counter_data, std::size_t range) const {
  std::vector<const char*> names = names_;
  std::vector<double> values(names.size(), kNoValue);
  CUpti_Profiler_Host_EvaluateToGpuValues_Params params{};
  params.structSize = CUpti_Profiler_Host_EvaluateToGpuValues_Params_STRUCT_SIZE;
  params.pHostObject = host_;
  params.pCounterDataImage = counter_data.data();
  params.counterDataImageSize = counter_data.size();
  params.rangeIndex = range;
  params.ppMetricNames = names.data();
  params.numMetrics = names.size();
  params.pMetricValues = values.data();
  cupti_.Require(functions_.evaluate(&params), "cuptiProfilerHostEvaluateToGpuValues");
  return values;
}

HardwareCounters CounterMetrics::Read(std::span<const std::uint8_t> counter_data, std::size_t ranges) const {
  std::vector<std::vector<double>> values;
  for (std::size_t range = 0; range < ranges; ++range) values.push_back(ValuesOf(counter_data, range));
  return Together(names_, values);
}

HardwareCounters CounterMetrics::Together(std::span<const char* const> names, std::span<const std::vector<double>> ranges) {
  // The sum over ranges, each value times that of `weight`.
  const auto sum = [&](const char* name, const char* weight) {
    const auto place = [&](const char* wanted) {
      return static_cast<std::size_t>(std::find(names.begin(), names.end(), std::string_view(wanted)) - names.begin());
    };
    const std::size_t at = place(name), weight_at = weight == nullptr ? 0 : place(weight);
    if (at == names.size() || weight_at == names.size() || ranges.empty()) return kNoValue;
    double total = 0;
    for (const std::vector<double>& values : ranges) total += values[at] * (weight == nullptr ? 1 : values[weight_at]);
    return total;
  };
  HardwareCounters counters;
  counters.counted_ns = sum(kDuration, nullptr);
  for (const Counted& one : kCounted) counters.*one.field = kPercent * sum(one.metric, kDuration) / counters.counted_ns;
  for (const ShareOf& one : kShares) {
    const double whole = sum(one.whole, nullptr);
    counters.*one.field = whole > 0 ? sum(one.part, nullptr) / whole : kNoValue;
  }
  return counters;
}

}  // namespace evo
