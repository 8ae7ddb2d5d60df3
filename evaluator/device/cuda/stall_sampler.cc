#include "evaluator/device/cuda/stall_sampler.h"

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
  Configure();
}

StallSampler::~StallSampler() {
  CUpti_PCSamplingDisableParams disable{};
  disable.size = CUpti_PCSamplingDisableParamsSize;
  disable.ctx = context_;
  functions_.disable(&disable);
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

void StallSampler::Configure() {
  buffer_.places.resize(kPlaces);
  buffer_.reasons.resize(kPlaces * reasons_.size());
  for (std::size_t i = 0; i < kPlaces; ++i) {
    buffer_.places[i] = {};
    buffer_.places[i].size = sizeof(CUpti_PCSamplingPCData);
    buffer_.places[i].stallReason = buffer_.reasons.data() + i * reasons_.size();
  }
  buffer_.data.size = sizeof(CUpti_PCSamplingData);
  buffer_.data.collectNumPcs = kPlaces;
  buffer_.data.pPcData = buffer_.places.data();
  std::vector<CUpti_PCSamplingConfigurationInfo> attributes;
  auto* info = &attributes.emplace_back(Attribute(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_COLLECTION_MODE));
  info->attributeData.collectionModeData.collectionMode = CUPTI_PC_SAMPLING_COLLECTION_MODE_CONTINUOUS;
  info = &attributes.emplace_back(Attribute(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_ENABLE_START_STOP_CONTROL));
  info->attributeData.enableStartStopControlData.enableStartStopControl = 1;
  info = &attributes.emplace_back(Attribute(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_HARDWARE_BUFFER_SIZE));
  info->attributeData.hardwareBufferSizeData.hardwareBufferSize = kHardwareBytes;
  info = &attributes.emplace_back(Attribute(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_DATA_BUFFER));
  info->attributeData.samplingDataBufferData.samplingDataBuffer = &buffer_.data;
  CUpti_PCSamplingConfigurationInfoParams params{};
  params.size = CUpti_PCSamplingConfigurationInfoParamsSize;
  params.ctx = context_;
  params.numAttributes = attributes.size();
  params.pPCSamplingConfigurationInfo = attributes.data();
  cupti_.Require(functions_.configure(&params), "cuptiPCSamplingSetConfigurationAttribute");
}

// Everything that was sampled so far.
void StallSampler::Collect(const std::string& image, std::vector<StallSample>& samples) {
  SourceLines lines(cupti_, image);
  do {
    CUpti_PCSamplingGetDataParams get{};
    get.size = CUpti_PCSamplingGetDataParamsSize;
    get.ctx = context_;
    get.pcSamplingData = &buffer_.data;
    cupti_.Require(functions_.data(&get), "cuptiPCSamplingGetData");
    for (std::size_t i = 0; i < buffer_.data.totalNumPcs; ++i) {
      CUpti_PCSamplingPCData& place = buffer_.places[i];
      const std::string function = place.functionName == nullptr ? "" : place.functionName;
      std::free(place.functionName);
      place.functionName = nullptr;
      const int line = function.empty() ? 0 : lines.Of(function, place.pcOffset);
      for (std::size_t r = 0; r < place.stallReasonCount; ++r) {
        const CUpti_PCSamplingStallReason& reason = place.stallReason[r];
        if (reason.samples == 0 || reason.pcSamplingStallReasonIndex >= reasons_.size()) continue;
        samples.push_back({line, reasons_[reason.pcSamplingStallReasonIndex], reason.samples});
      }
    }
  } while (buffer_.data.remainingNumPcs > 0 && buffer_.data.totalNumPcs > 0);
}

SampledStalls StallSampler::Sample(const Step& prepare, const Step& run, int times, const std::string& image) {
  SampledStalls sampled;
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
