#include "evaluator/device/cuda/cupti_records.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <utility>

#include "core/error.h"

namespace evo {
namespace {

// A buffer holds 4,000 records or more; CUPTI asks for another when it is full.
constexpr std::size_t kBufferBytes = 1 << 20;
constexpr std::size_t kRecordAlignment = 8;
constexpr auto kPatience = std::chrono::milliseconds(200);
// The pause between two looks for records that are missing. After this many looks a flush is forced: the times have been written
// by then.
constexpr auto kPause = std::chrono::microseconds(50);
constexpr int kPausesUnforced = 4;

// CUPTI passes no pointer of ours to the two functions that it calls to exchange buffers, maybe from a thread of its own.
struct Inbox {
  std::mutex mutex;
  std::vector<ActivityRecord> records;
  std::size_t dropped = 0;
  decltype(&cuptiActivityGetNextRecord) get_next_record = nullptr;
  decltype(&cuptiActivityGetNumDroppedRecords) get_num_dropped_records = nullptr;
};

Inbox& TheInbox() {
  static Inbox inbox;
  return inbox;
}

template <typename Record>
ActivityRecord Timed(ActivityKind kind, const CUpti_Activity* record) {
  const auto* timed = reinterpret_cast<const Record*>(record);
  return {kind, {}, timed->correlationId, timed->start, timed->end};
}

// The fields read here have the same offsets in the records of CUDA 12 and 13: new versions only append fields.
void Keep(const CUpti_Activity* record, std::vector<ActivityRecord>& records) {
  switch (record->kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: {
      records.push_back(Timed<CUpti_ActivityKernel10>(ActivityKind::kKernel, record));
      const char* name = reinterpret_cast<const CUpti_ActivityKernel10*>(record)->name;
      records.back().name = name == nullptr ? "" : name;
      return;
    }
    case CUPTI_ACTIVITY_KIND_MEMSET:
      records.push_back(Timed<CUpti_ActivityMemset4>(ActivityKind::kMemset, record));
      return;
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      records.push_back(Timed<CUpti_ActivityMemcpy6>(ActivityKind::kMemcpy, record));
      return;
    default:
      return;
  }
}

void CUPTIAPI BufferRequested(std::uint8_t** buffer, std::size_t* size, std::size_t* most_records) {
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(kRecordAlignment, kBufferBytes));
  *size = *buffer == nullptr ? 0 : kBufferBytes;
  *most_records = 0;
}

void CUPTIAPI BufferCompleted(CUcontext context, std::uint32_t stream, std::uint8_t* buffer, std::size_t, std::size_t valid) {
  Inbox& inbox = TheInbox();
  const std::lock_guard lock(inbox.mutex);
  CUpti_Activity* record = nullptr;
  while (valid > 0 && inbox.get_next_record(buffer, valid, &record) == CUPTI_SUCCESS) Keep(record, inbox.records);
  std::size_t dropped = 0;
  if (inbox.get_num_dropped_records(context, stream, &dropped) == CUPTI_SUCCESS) inbox.dropped += dropped;
  std::free(buffer);
}

constexpr CUpti_ActivityKind kKinds[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMSET,
                                         CUPTI_ACTIVITY_KIND_MEMCPY};

}  // namespace

CuptiRecords::CuptiRecords(const std::filesystem::path& cuda_root) : library_(cuda_root) {
  Inbox& inbox = TheInbox();
  library_.Resolve(register_callbacks_, "cuptiActivityRegisterCallbacks");
  library_.Resolve(enable_, "cuptiActivityEnable");
  library_.Resolve(disable_, "cuptiActivityDisable");
  library_.Resolve(flush_all_, "cuptiActivityFlushAll");
  library_.Resolve(inbox.get_next_record, "cuptiActivityGetNextRecord");
  library_.Resolve(inbox.get_num_dropped_records, "cuptiActivityGetNumDroppedRecords");
  library_.Require(register_callbacks_(BufferRequested, BufferCompleted), "cuptiActivityRegisterCallbacks");
  for (const CUpti_ActivityKind kind : kKinds) library_.Require(enable_(kind), "cuptiActivityEnable");
}

CuptiRecords::~CuptiRecords() {
  for (const CUpti_ActivityKind kind : kKinds) disable_(kind);
  flush_all_(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
}

void CuptiRecords::Discard() {
  library_.Require(flush_all_(0), "cuptiActivityFlushAll");
  Inbox& inbox = TheInbox();
  const std::lock_guard lock(inbox.mutex);
  inbox.records.clear();
  inbox.dropped = 0;
}

std::vector<ActivityRecord> CuptiRecords::Collect(std::size_t count) {
  Inbox& inbox = TheInbox();
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  for (int pauses = 0;; ++pauses) {
    // The flush is not forced at first: a forced flush also delivers records whose times are not written yet.
    library_.Require(flush_all_(pauses >= kPausesUnforced ? CUPTI_ACTIVITY_FLAG_FLUSH_FORCED : 0), "cuptiActivityFlushAll");
    {
      const std::lock_guard lock(inbox.mutex);
      if (inbox.dropped > 0)
        throw Error(fmt::format("CUPTI lost {} records: times cannot be trusted; run evo again", inbox.dropped));
      if (inbox.records.size() >= count || std::chrono::steady_clock::now() > deadline) {
        return std::exchange(inbox.records, {});
      }
    }
    std::this_thread::sleep_for(kPause);
  }
}

}  // namespace evo
