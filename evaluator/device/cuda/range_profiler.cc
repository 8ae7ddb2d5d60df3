#include "evaluator/device/cuda/range_profiler.h"

#include <fmt/format.h>

#include "core/error.h"
#include "evaluator/device/cuda/current_context.h"

namespace evo {
namespace {

// A guard against a profiler that never says that all passes are done.
constexpr std::size_t kMostPasses = 64;

}  // namespace

RangeProfiler::RangeProfiler(const std::filesystem::path& cuda_root, int ordinal) : cupti_(cuda_root) {
  FindFunctions();
  CUpti_Profiler_Initialize_Params initialize{};
  initialize.structSize = CUpti_Profiler_Initialize_Params_STRUCT_SIZE;
  cupti_.Require(functions_.initialize(&initialize), "cuptiProfilerInitialize");
  CUcontext context = CurrentContext();
  metrics_ = std::make_unique<CounterMetrics>(cupti_, ChipName(ordinal), Availability(context));
  CUpti_RangeProfiler_Enable_Params enable{};
  enable.structSize = CUpti_RangeProfiler_Enable_Params_STRUCT_SIZE;
  enable.ctx = context;
  cupti_.Require(functions_.enable(&enable), "cuptiRangeProfilerEnable");
  profiler_ = enable.pRangeProfilerObject;
}

RangeProfiler::~RangeProfiler() {
  if (profiler_ != nullptr) {
    CUpti_RangeProfiler_Disable_Params disable{};
    disable.structSize = CUpti_RangeProfiler_Disable_Params_STRUCT_SIZE;
    disable.pRangeProfilerObject = profiler_;
    functions_.disable(&disable);
  }
  metrics_.reset();
  CUpti_Profiler_DeInitialize_Params deinitialize{};
  deinitialize.structSize = CUpti_Profiler_DeInitialize_Params_STRUCT_SIZE;
  functions_.deinitialize(&deinitialize);
}

void RangeProfiler::FindFunctions() {
  cupti_.Resolve(functions_.initialize, "cuptiProfilerInitialize");
  cupti_.Resolve(functions_.deinitialize, "cuptiProfilerDeInitialize");
  cupti_.Resolve(functions_.availability, "cuptiProfilerGetCounterAvailability");
  cupti_.Resolve(functions_.chip_name, "cuptiDeviceGetChipName");
  cupti_.Resolve(functions_.enable, "cuptiRangeProfilerEnable");
  cupti_.Resolve(functions_.disable, "cuptiRangeProfilerDisable");
  cupti_.Resolve(functions_.counter_data_size, "cuptiRangeProfilerGetCounterDataSize");
  cupti_.Resolve(functions_.initialize_counter_data, "cuptiRangeProfilerCounterDataImageInitialize");
  cupti_.Resolve(functions_.set_config, "cuptiRangeProfilerSetConfig");
  cupti_.Resolve(functions_.start, "cuptiRangeProfilerStart");
  cupti_.Resolve(functions_.stop, "cuptiRangeProfilerStop");
  cupti_.Resolve(functions_.decode_data, "cuptiRangeProfilerDecodeData");
  cupti_.Resolve(functions_.counter_data_info, "cuptiRangeProfilerGetCounterDataInfo");
}

std::string RangeProfiler::ChipName(int ordinal) const {
  CUpti_Device_GetChipName_Params params{};
  params.structSize = CUpti_Device_GetChipName_Params_STRUCT_SIZE;
  params.deviceIndex = static_cast<std::size_t>(ordinal);
  cupti_.Require(functions_.chip_name(&params), "cuptiDeviceGetChipName");
  return params.pChipName;
}

std::vector<std::uint8_t> RangeProfiler::Availability(CUcontext context) const {
  CUpti_Profiler_GetCounterAvailability_Params params{};
  params.structSize = CUpti_Profiler_GetCounterAvailability_Params_STRUCT_SIZE;
  params.ctx = context;
  cupti_.Require(functions_.availability(&params), "cuptiProfilerGetCounterAvailability");
  std::vector<std::uint8_t> image(params.counterAvailabilityImageSize);
  params.pCounterAvailabilityImage = image.data();
  cupti_.Require(functions_.availability(&params), "cuptiProfilerGetCounterAvailability");
  return image;
}

void RangeProfiler::MakeCounterData(std::size_t launches) {
  std::vector<const char*> names = metrics_->names();
  CUpti_RangeProfiler_GetCounterDataSize_Params size{};
  size.structSize = CUpti_RangeProfiler_GetCounterDataSize_Params_STRUCT_SIZE;
  size.pRangeProfilerObject = profiler_;
  size.pMetricNames = names.data();
  size.numMetrics = names.size();
  size.maxNumOfRanges = launches;
  size.maxNumRangeTreeNodes = static_cast<std::uint32_t>(launches);
  cupti_.Require(functions_.counter_data_size(&size), "cuptiRangeProfilerGetCounterDataSize");
  counter_data_.assign(size.counterDataSize, 0);
  CUpti_RangeProfiler_CounterDataImage_Initialize_Params initialize{};
  initialize.structSize = CUpti_RangeProfiler_CounterDataImage_Initialize_Params_STRUCT_SIZE;
  initialize.pRangeProfilerObject = profiler_;
  initialize.counterDataSize = counter_data_.size();
  initialize.pCounterData = counter_data_.data();
  cupti_.Require(functions_.initialize_counter_data(&initialize), "cuptiRangeProfilerCounterDataImageInitialize");
}

// A range for each launch, since one around all would hold the time that the profiler takes to begin and end it: 80 us. Replayed
// by us: before each pass memory and caches are as they are before a timed launch.
void RangeProfiler::Configure(std::size_t launches) {
  CUpti_RangeProfiler_SetConfig_Params config{};
  config.structSize = CUpti_RangeProfiler_SetConfig_Params_STRUCT_SIZE;
  config.pRangeProfilerObject = profiler_;
  config.configSize = metrics_->config_image().size();
  config.pConfig = metrics_->config_image().data();
  config.counterDataImageSize = counter_data_.size();
  config.pCounterDataImage = counter_data_.data();
  config.range = CUPTI_AutoRange;
  config.replayMode = CUPTI_UserReplay;
  config.maxRangesPerPass = launches;
  config.numNestingLevels = 1;
  config.minNestingLevel = 1;
  config.passIndex = 0;
  config.targetNestingLevel = 1;
  cupti_.Require(functions_.set_config(&config), "cuptiRangeProfilerSetConfig");
}

CountedRun RangeProfiler::Count(const Step& prepare, const Step& run, std::size_t launches) {
  MakeCounterData(launches);
  Configure(launches);
  for (std::size_t pass = 0;; ++pass) {
    if (pass == kMostPasses) throw Error(fmt::format("counting did not end after {} passes; report this", kMostPasses));
    if (DeviceStatus status = prepare(); !status.ok()) return {std::move(status), {}};
    CUpti_RangeProfiler_Start_Params start{};
    start.structSize = CUpti_RangeProfiler_Start_Params_STRUCT_SIZE;
    start.pRangeProfilerObject = profiler_;
    cupti_.Require(functions_.start(&start), "cuptiRangeProfilerStart");
    DeviceStatus status = run();
    CUpti_RangeProfiler_Stop_Params stop{};
    stop.structSize = CUpti_RangeProfiler_Stop_Params_STRUCT_SIZE;
    stop.pRangeProfilerObject = profiler_;
    cupti_.Require(functions_.stop(&stop), "cuptiRangeProfilerStop");
    if (!status.ok()) return {std::move(status), {}};
    if (stop.isAllPassSubmitted != 0) break;
  }
  CUpti_RangeProfiler_DecodeData_Params decode{};
  decode.structSize = CUpti_RangeProfiler_DecodeData_Params_STRUCT_SIZE;
  decode.pRangeProfilerObject = profiler_;
  cupti_.Require(functions_.decode_data(&decode), "cuptiRangeProfilerDecodeData");
  if (decode.numOfRangeDropped > 0) throw Error("CUPTI lost what it counted; end other profilers and see `evo doctor`");
  CUpti_RangeProfiler_GetCounterDataInfo_Params info{};
  info.structSize = CUpti_RangeProfiler_GetCounterDataInfo_Params_STRUCT_SIZE;
  info.pCounterDataImage = counter_data_.data();
  info.counterDataImageSize = counter_data_.size();
  cupti_.Require(functions_.counter_data_info(&info), "cuptiRangeProfilerGetCounterDataInfo");
  return {{}, metrics_->Read(counter_data_, info.numTotalRanges)};
}

}  // namespace evo
