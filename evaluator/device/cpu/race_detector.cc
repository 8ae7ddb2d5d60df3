#include "evaluator/device/cpu/race_detector.h"

#include <algorithm>

namespace evo {
namespace {

// A stamp: phase (32 bits), clock of the thread (20), two flags, thread (10).
constexpr std::uint32_t kMostClock = (1u << 20) - 1;
constexpr Stamp kAtomic = Stamp{1} << 10;
constexpr Stamp kSameValue = Stamp{1} << 11;  // more than one thread wrote it, all the same value

unsigned ThreadOf(Stamp stamp) { return static_cast<unsigned>(stamp & 1023); }
std::uint32_t ClockOf(Stamp stamp) { return static_cast<std::uint32_t>(stamp >> 12) & kMostClock; }
std::uint32_t EpochOf(Stamp stamp) { return static_cast<std::uint32_t>(stamp >> 32); }

}  // namespace

void RaceDetector::BeginLaunch(unsigned threads) {
  threads_ = threads;
  clocks_.resize((threads + 31) / 32);
  launch_first_ = epoch_ + 1;
  launch_released_ = false;
}

void RaceDetector::BeginBlock() {
  block_first_ = ++epoch_;
  for (Clocks& clocks : clocks_) {
    for (std::size_t lane = 0; lane < 32; ++lane) {
      clocks[lane].fill(0);
      clocks[lane][lane] = 1;
    }
  }
  fenced_.assign(threads_, 0);
  released_.assign(threads_, 0);
  acquired_.assign(clocks_.size(), 0);
  block_acquired_ = false;
  undecided_.clear();
}

void RaceDetector::BlockBarrier() {
  ++epoch_;
  undecided_.clear();
}

void RaceDetector::WarpBarrier(unsigned warp, unsigned lanes) {
  Clocks& clocks = clocks_[warp];
  std::array<std::uint32_t, 32> joined{};
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!((lanes >> lane) & 1)) continue;
    for (std::size_t of = 0; of < 32; ++of) joined[of] = std::max(joined[of], clocks[lane][of]);
  }
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!((lanes >> lane) & 1)) continue;
    clocks[lane] = joined;
    clocks[lane][lane] = std::min(joined[lane] + 1, kMostClock);
  }
}

void RaceDetector::Fence(unsigned thread) { fenced_[thread] = 1; }

void RaceDetector::Release(unsigned thread) {
  const unsigned warp = thread / 32;
  auto& known = clocks_[warp][thread % 32];
  for (unsigned lane = 0; lane < 32 && warp * 32 + lane < threads_; ++lane)
    released_[warp * 32 + lane] = std::max(released_[warp * 32 + lane], known[lane]);
  known[thread % 32] = std::min(known[thread % 32] + 1, kMostClock);
}

void RaceDetector::Acquire(unsigned thread) { acquired_[thread / 32] = epoch_; }

bool RaceDetector::Unordered(Stamp stamp, const Context& context) const {
  const std::uint32_t epoch = EpochOf(stamp);
  if (epoch < block_first_) {
    return context.space == MemorySpace::kGlobal && epoch >= launch_first_ && !(launch_released_ && block_acquired_);
  }
  const unsigned other = ThreadOf(stamp);
  if (epoch != epoch_ || other == context.thread) return false;
  const unsigned warp = context.thread / 32;
  if (other / 32 == warp && clocks_[warp][context.thread % 32][other % 32] >= ClockOf(stamp)) return false;
  return !(acquired_[warp] == epoch_ && released_[other] >= ClockOf(stamp));
}

Race RaceDetector::MakeRace(const Context& context, Stamp earlier, bool earlier_wrote, bool later_writes) const {
  return {context.address, ThreadOf(earlier), context.thread, EpochOf(earlier) < block_first_, earlier_wrote, later_writes};
}

bool RaceDetector::Report(const Context& context, Stamp earlier, bool earlier_wrote, bool later_writes) const {
  context.finding->race = MakeRace(context, earlier, earlier_wrote, later_writes);
  return false;
}

// Keeps two readers, of different warps if possible, with which a later writer must be ordered.
void RaceDetector::Record(ShadowCell& cell, const Context& context) const {
  if (!Unordered(cell.read, context)) {
    cell.read = context.now;
  } else if (!Unordered(cell.other_read, context) ||
             (ThreadOf(cell.read) / 32 == ThreadOf(cell.other_read) / 32 && context.thread / 32 != ThreadOf(cell.read) / 32)) {
    cell.other_read = context.now;
  }
}

bool RaceDetector::Read(ShadowCell& cell, const Context& context) {
  if (cell.read == context.now || cell.other_read == context.now) return true;  // a write would have cleared them
  if (Unordered(cell.write, context)) {
    if (!(cell.write & (kAtomic | kSameValue))) return Report(context, cell.write, true, false);
    // The first step of a compare-and-swap loop, unless no atomic operation follows.
    if ((cell.write & kAtomic) && context.space == MemorySpace::kShared)
      undecided_.push_back(MakeRace(context, cell.write, true, false));
  }
  Record(cell, context);
  return true;
}

bool RaceDetector::Write(ShadowCell& cell, const Context& context) {
  if (Unordered(cell.read, context)) return Report(context, cell.read, (cell.read & kAtomic) != 0, true);
  if (Unordered(cell.other_read, context)) return Report(context, cell.other_read, false, true);
  if (Unordered(cell.write, context)) {
    if (cell.write & kAtomic) return Report(context, cell.write, true, true);
    if (!context.finding->rewrite) context.finding->rewrite = MakeRace(context, cell.write, true, true);
    context.finding->rewrite_end = context.address + context.size;
    cell.write |= kSameValue;
    return true;
  }
  cell = {context.now, 0, 0};
  return true;
}

bool RaceDetector::Atomic(ShadowCell& cell, const Context& context) {
  undecided_.erase(
      std::remove_if(undecided_.begin(), undecided_.end(),
                     [&](const Race& race) { return race.later == context.thread && race.address == context.address; }),
      undecided_.end());
  if (Unordered(cell.write, context) && !(cell.write & kAtomic)) return Report(context, cell.write, true, true);
  // In global memory, reading before the atomic operation is a common, harmless short cut.
  if (context.space == MemorySpace::kShared) {
    if (!(cell.read & kAtomic) && Unordered(cell.read, context)) return Report(context, cell.read, false, true);
    if (Unordered(cell.other_read, context)) return Report(context, cell.other_read, false, true);
  }
  // The atomic operation of another thread is kept as well, so that a later plain write is compared with both.
  const bool other = (cell.write & kAtomic) && Unordered(cell.write, context);
  const Stamp kept = other ? cell.write : (cell.read & kAtomic) && Unordered(cell.read, context) ? cell.read : 0;
  cell = {context.now | kAtomic, kept, 0};
  return true;
}

RaceDetector::Finding RaceDetector::Access(Shadow& shadow, MemorySpace space, unsigned thread, std::uintptr_t address,
                                           std::size_t bytes, evo_cpu_access kind) {
  Finding finding;
  const unsigned warp = thread / 32;
  // Old code relies on volatile where the lanes of a warp exchange values through shared memory; since Volta that is not enough.
  const bool flag = space == MemorySpace::kGlobal && (kind == evo_cpu_volatile_read || kind == evo_cpu_volatile_write);
  const bool atomic = kind == evo_cpu_atomic || flag;
  if (atomic) {
    std::uint32_t& clock = clocks_[warp][thread % 32][thread % 32];
    if (fenced_[thread] && kind != evo_cpu_volatile_read) {
      released_[thread] = clock;
      clock = std::min(clock + 1, kMostClock);
      fenced_[thread] = 0;
      launch_released_ = true;
    }
    acquired_[warp] = epoch_;
    block_acquired_ = true;
    if (kind == evo_cpu_volatile_read) return finding;
  }
  const Stamp now = Stamp{epoch_} << 32 | Stamp{clocks_[warp][thread % 32][thread % 32]} << 12 | thread;
  Context context{thread, space, now, address, bytes, &finding};
  const bool writes = kind == evo_cpu_write || kind == evo_cpu_volatile_write;
  shadow.ForEach(address, bytes, [&](ShadowCell& cell, std::uintptr_t at, std::size_t size) {
    context.address = at;
    context.size = size;
    if (atomic) return Atomic(cell, context);
    return writes ? Write(cell, context) : Read(cell, context);
  });
  return finding;
}

std::optional<Race> RaceDetector::Undecided() const {
  if (undecided_.empty()) return std::nullopt;
  return undecided_.front();
}

}  // namespace evo
