#include "evaluator/device/cuda/stall_sampler.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdlib>
#include <string_view>

#include "evaluator/device/cuda/current_context.h"
#include "evaluator/device/cuda/source_lines.h"

namespace evo {
namespace {

// Instructions of which CUPTI hands out samples at once.
constexpr std::size_t kPlaces = 4096;
// Of the hardware's buffer, for which CUPTI takes half a gigabyte by default.
constexpr std::size_t kHardwareBytes = 64 << 20;
// Of each multiprocessor in one run; a run that is too short for so many is sampled as often as the shortest period allows.
constexpr double kSamples = 256;
constexpr double kClockHz = 2e9;  // roughly, of any GPU
constexpr int kShortestPeriod = 9, kLongestPeriod = 31;

// As CUPTI takes it: two to the power of this is a number of cycles.
std::uint32_t PeriodFor(std::chrono::duration<double> run) {
  const auto cycles = static_cast<std::uint64_t>(run.count() * kClockHz / kSamples);
  return static_cast<std::uint32_t>(std::clamp(static_cast<int>(std::bit_width(cycles)), kShortestPeriod, kLongestPeriod));
}

// "long_scoreboard" of "smsp__pcsamp_warps_issue_stalled_long_scoreboard_not_issued".
std::string ShortReason(std::string_view name) {
  constexpr std::string_view kBefore = "issue_stalled_", kAfter = "_not_issued";
  if (const std::size_t at = name.find(kBefore); at != std::string_view::npos) name.remove_prefix(at + kBefore.size());
  if (name.ends_with(kAfter)) name.remove_suffix(kAfter.size());
  return std::string(name);
}

CUpti_PCSamplingConfigurationInfo Attribute(CUpti_PCSamplingConfigurationAttributeType type) {
  CUpti_PCSamplingConfigurationInfo info{};
  info.attributeType = type;
  return info;
}

}  // namespace

StallSampler::StallSampler(const std::filesystem::path& cuda_root) : cupti_(cuda_root), context_(CurrentContext()) {
  FindFunctions();
  CUpti_PCSamplingEnableParams enable{};
  enable.size = CUpti_PCSamplingEnableParamsSize;
  enable.ctx = context_;
  cupti_.Require(functions_.enable(&enable), "cuptiPCSamplingEnable");
  FindReasons();
  for (Buffer* buffer : {&sampled_, &collected_}) Prepare(*buffer);
}

StallSampler::~StallSampler() {
  CUpti_PCSamplingDisableParams disable{};
  disable.size = CUpti_PCSamplingDisableParamsSize;
  disable.ctx = context_;
  functions_.disable(&disable);
  for (char* name : names_) std::free(name);
}

void StallSampler::FindFunctions() {
  cupti_.Resolve(functions_.enable, "cuptiPCSamplingEnable");
  cupti_.Resolve(functions_.disable, "cuptiPCSamplingDisable");
  cupti_.Resolve(functions_.configure, "cuptiPCSamplingSetConfigurationAttribute");
  cupti_.Resolve(functions_.count_reasons, "cuptiPCSamplingGetNumStallReasons");
  cupti_.Resolve(functions_.reasons, "cuptiPCSamplingGetStallReasons");
  cupti_.Resolve(functions_.start, "cuptiPCSamplingStart");
  cupti_.Resolve(functions_.stop, "cuptiPCSamplingStop");
  cupti_.Resolve(functions_.data, "cuptiPCSamplingGetData");
}

void StallSampler::FindReasons() {
  std::size_t count = 0;
  CUpti_PCSamplingGetNumStallReasonsParams number{};
  number.size = CUpti_PCSamplingGetNumStallReasonsParamsSize;
  number.ctx = context_;
  number.numStallReasons = &count;
  cupti_.Require(functions_.count_reasons(&number), "cuptiPCSamplingGetNumStallReasons");
  std::vector<std::uint32_t> indices(count);
  std::vector<char> text(count * CUPTI_STALL_REASON_STRING_SIZE);
  std::vector<char*> names(count);
  for (std::size_t i = 0; i < count; ++i) names[i] = text.data() + i * CUPTI_STALL_REASON_STRING_SIZE;
  CUpti_PCSamplingGetStallReasonsParams reasons{};
  reasons.size = CUpti_PCSamplingGetStallReasonsParamsSize;
  reasons.ctx = context_;
  reasons.numStallReasons = count;
  reasons.stallReasonIndex = indices.data();
  reasons.stallReasons = names.data();
  cupti_.Require(functions_.reasons(&reasons), "cuptiPCSamplingGetStallReasons");
  for (std::size_t i = 0; i < count; ++i) {
    if (reasons_.size() <= indices[i]) reasons_.resize(indices[i] + 1);
    reasons_[indices[i]] = ShortReason(names[i]);
  }
}

void StallSampler::Prepare(Buffer& buffer) const {
  buffer.places.resize(kPlaces);
  buffer.reasons.resize(kPlaces * reasons_.size());
  for (std::size_t i = 0; i < kPlaces; ++i) {
    buffer.places[i] = {};
    buffer.places[i].size = sizeof(CUpti_PCSamplingPCData);
    buffer.places[i].stallReason = buffer.reasons.data() + i * reasons_.size();
  }
  buffer.data.size = sizeof(CUpti_PCSamplingData);
  buffer.data.collectNumPcs = kPlaces;
  buffer.data.pPcData = buffer.places.data();
}

void StallSampler::Configure(std::uint32_t period) {
  std::vector<CUpti_PCSamplingConfigurationInfo> attributes;
  auto* info = &attributes.emplace_back(Attribute(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_COLLECTION_MODE));
  info->attributeData.collectionModeData.collectionMode = CUPTI_PC_SAMPLING_COLLECTION_MODE_CONTINUOUS;
  info = &attributes.emplace_back(Attribute(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_ENABLE_START_STOP_CONTROL));
  info->attributeData.enableStartStopControlData.enableStartStopControl = 1;
  info = &attributes.emplace_back(Attribute(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_PERIOD));
  info->attributeData.samplingPeriodData.samplingPeriod = period;
  info = &attributes.emplace_back(Attribute(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_HARDWARE_BUFFER_SIZE));
  info->attributeData.hardwareBufferSizeData.hardwareBufferSize = kHardwareBytes;
  info = &attributes.emplace_back(Attribute(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_DATA_BUFFER));
  info->attributeData.samplingDataBufferData.samplingDataBuffer = &sampled_.data;
  CUpti_PCSamplingConfigurationInfoParams params{};
  params.size = CUpti_PCSamplingConfigurationInfoParamsSize;
  params.ctx = context_;
  params.numAttributes = attributes.size();
  params.pPCSamplingConfigurationInfo = attributes.data();
  cupti_.Require(functions_.configure(&params), "cuptiPCSamplingSetConfigurationAttribute");
}

// Everything that was sampled so far. CUPTI moves it from the buffer that it samples into to another; within one it would be
// lost.
void StallSampler::Collect(const std::string& image, std::vector<StallSample>& samples) {
  SourceLines lines(cupti_, image);
  do {
    collected_.data.totalNumPcs = 0;
    CUpti_PCSamplingGetDataParams get{};
    get.size = CUpti_PCSamplingGetDataParamsSize;
    get.ctx = context_;
    get.pcSamplingData = &collected_.data;
    cupti_.Require(functions_.data(&get), "cuptiPCSamplingGetData");
    for (std::size_t i = 0; i < collected_.data.totalNumPcs; ++i) {
      const CUpti_PCSamplingPCData& place = collected_.places[i];
      if (place.functionName != nullptr) names_.insert(place.functionName);
      const int line = place.functionName == nullptr ? 0 : lines.Of(place.functionName, place.pcOffset);
      for (std::size_t r = 0; r < place.stallReasonCount; ++r) {
        const CUpti_PCSamplingStallReason& reason = place.stallReason[r];
        if (reason.samples == 0 || reason.pcSamplingStallReasonIndex >= reasons_.size()) continue;
        samples.push_back({line, reasons_[reason.pcSamplingStallReasonIndex], reason.samples});
      }
    }
  } while (collected_.data.remainingNumPcs > 0 && collected_.data.totalNumPcs > 0);
}

SampledStalls StallSampler::Sample(const Step& prepare, const Step& run, int times, const std::string& image) {
  using Clock = std::chrono::steady_clock;
  SampledStalls sampled;
  sampled.status = prepare();
  const Clock::time_point begin = Clock::now();
  if (sampled.status.ok()) sampled.status = run();
  if (!sampled.status.ok()) return sampled;
  Configure(PeriodFor(Clock::now() - begin));
  for (int i = 0; i < times; ++i) {
    sampled.status = prepare();
    if (!sampled.status.ok()) return sampled;
    CUpti_PCSamplingStartParams start{};
    start.size = CUpti_PCSamplingStartParamsSize;
    start.ctx = context_;
    cupti_.Require(functions_.start(&start), "cuptiPCSamplingStart");
    sampled.status = run();
    CUpti_PCSamplingStopParams stop{};
    stop.size = CUpti_PCSamplingStopParamsSize;
    stop.ctx = context_;
    cupti_.Require(functions_.stop(&stop), "cuptiPCSamplingStop");
    if (!sampled.status.ok()) return sampled;
    Collect(image, sampled.samples);
  }
  return sampled;
}

}  // namespace evo
