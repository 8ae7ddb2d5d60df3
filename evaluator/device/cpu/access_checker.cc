#include "evaluator/device/cpu/access_checker.h"

#include <fmt/format.h>

#include <cstring>
#include <utility>

namespace evo {
namespace {

// An address farther than this from any buffer is reported without a name.
constexpr std::uintptr_t kNear = 1 << 20;

const char* Verb(evo_cpu_access kind) {
  switch (kind) {
    case evo_cpu_read:
    case evo_cpu_volatile_read:
      return "reads";
    case evo_cpu_write:
    case evo_cpu_volatile_write:
      return "writes";
    case evo_cpu_atomic:
      break;
  }
  return "changes";
}

bool Writes(evo_cpu_access kind) { return kind != evo_cpu_read && kind != evo_cpu_volatile_read; }

}  // namespace

void AccessChecker::BeginLaunch(MemoryMap* image, unsigned threads) {
  image_ = image;
  recent_[0] = recent_[1] = nullptr;
  rewrite_.reset();
  races_.BeginLaunch(threads);
}

std::optional<AccessFault> AccessChecker::FinishWarp() {
  if (!rewrite_) return std::nullopt;
  const Race race = *std::exchange(rewrite_, std::nullopt);
  if (std::memcmp(reinterpret_cast<const void*>(race.address), before_.data(), before_.size()) == 0) return std::nullopt;
  return Describe(race);
}

std::optional<AccessFault> AccessChecker::BlockBarrier() {
  const auto race = races_.Undecided();
  races_.BlockBarrier();
  if (race) return Describe(*race);
  return std::nullopt;
}

std::optional<AccessFault> AccessChecker::Access(unsigned thread, std::uintptr_t address, std::size_t bytes,
                                                 evo_cpu_access kind) {
  if (auto fault = FinishWarp()) return fault;
  Shadow* records = nullptr;
  MemorySpace space = MemorySpace::kGlobal;
  if (shared_.Near(address)) {
    if (!shared_.Holds(address, bytes)) return Outside(address, bytes, kind);
    records = &shared_.Records();
    space = MemorySpace::kShared;
  } else {
    MemoryRange* range = Find(address, bytes);
    if (range == nullptr || (range->constant && Writes(kind))) return Outside(address, bytes, kind);
    if (range->constant) return std::nullopt;
    records = range->Records();
    if (records == nullptr) {
      return AccessFault{AccessFaultKind::kNoRoom,
                         fmt::format("no memory to check a buffer of {} bytes for races; use a smaller case", range->bytes)};
    }
  }
  const RaceDetector::Finding finding = races_.Access(*records, space, thread, address, bytes, kind);
  if (finding.race) return Describe(*finding.race);
  if (finding.rewrite) {
    rewrite_ = finding.rewrite;
    const auto* begin = reinterpret_cast<const unsigned char*>(rewrite_->address);
    before_.assign(begin, begin + (finding.rewrite_end - rewrite_->address));
  }
  return std::nullopt;
}

MemoryRange* AccessChecker::Find(std::uintptr_t address, std::size_t bytes) {
  if (recent_[0] != nullptr && recent_[0]->Holds(address, bytes)) return recent_[0];
  std::swap(recent_[0], recent_[1]);
  if (recent_[0] != nullptr && recent_[0]->Holds(address, bytes)) return recent_[0];
  for (MemoryMap* map : {&buffers_, image_}) {
    MemoryRange* range = map->Nearest(address);
    if (range != nullptr && range->Holds(address, bytes)) return recent_[0] = range;
  }
  return nullptr;
}

AccessFault AccessChecker::Outside(std::uintptr_t address, std::size_t bytes, evo_cpu_access kind) {
  const std::string what = fmt::format("{} {} bytes", Verb(kind), bytes);
  if (shared_.Near(address)) return {AccessFaultKind::kOutside, fmt::format("{} at {}", what, shared_.Describe(address))};
  const MemoryRange* range = image_->Nearest(address);
  if (range != nullptr && range->Holds(address, 1))
    return {AccessFaultKind::kOutside, fmt::format("{} of constant or code memory", what)};
  range = buffers_.Nearest(address);
  const std::uintptr_t from = range == nullptr ? 0 : address < range->begin ? range->begin - address : address - range->begin;
  if (range == nullptr || from > range->bytes + kNear)
    return {AccessFaultKind::kOutside, fmt::format("{} at an address that belongs to no buffer", what)};
  return {AccessFaultKind::kOutside, fmt::format("{} at offset {} of a buffer of {} bytes", what,
                                                 static_cast<std::ptrdiff_t>(address - range->begin), range->bytes)};
}

AccessFault AccessChecker::Describe(const Race& race) {
  const std::string how =
      fmt::format("{} after {}", race.later_writes ? "written" : "read", race.earlier_wrote ? "written" : "read");
  std::string where = "a module variable";
  if (shared_.Near(race.address)) {
    where = shared_.Describe(race.address);
  } else if (const MemoryRange* range = buffers_.Nearest(race.address); range != nullptr && range->Holds(race.address, 1)) {
    where = fmt::format("offset {} of a buffer of {} bytes", race.address - range->begin, range->bytes);
  }
  if (race.across_blocks)
    return {AccessFaultKind::kRace,
            fmt::format("race in global memory: {} is {} by two blocks, which nothing orders", where, how)};
  return {AccessFaultKind::kRace,
          fmt::format("race in {} memory: threads {} and {} at {}, {} without a barrier between them",
                      shared_.Near(race.address) ? "shared" : "global", race.earlier, race.later, where, how)};
}

}  // namespace evo
