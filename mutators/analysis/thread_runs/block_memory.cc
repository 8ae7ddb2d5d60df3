#include "mutators/analysis/thread_runs/block_memory.h"

#include <algorithm>

namespace evo {
namespace {

bool AreSame(const ThreadValue& a, const ThreadValue& b) {
  // Where formulas count, the numbers are all the same.
  if (a.formula && b.formula && !AreSameFormulas(*a.formula, *b.formula)) return false;
  return a.kind == b.kind && a.integer == b.integer && a.real == b.real && a.memory == b.memory;
}

}  // namespace

BlockElement& BlockMemory::At(std::size_t slot, std::int64_t index) {
  if (index < 0 || index >= kMostDense) return others_[{slot, index}];
  if (slot >= dense_.size()) dense_.resize(slot + 1);
  auto& pages = dense_[slot];
  const std::size_t at = static_cast<std::size_t>(index), number = at / kPageElements;
  if (number >= pages.size()) pages.resize(std::max(number + 1, 2 * pages.size()));
  if (!pages[number]) pages[number] = std::make_unique<Page>();
  return (*pages[number])[at % kPageElements];
}

bool BlockMemory::Merge(std::vector<StoredValues>& stored, const std::vector<std::size_t>& threads) {
  bool races = false;
  ++merged_;
  if (threads.size() == stored.size())
    ++barriers_;
  else if (!threads.empty())
    ++meetings_[Now(threads.front()).thread / static_cast<std::int32_t>(kLanes)];
  for (const std::size_t thread : threads) {
    for (auto& [place, value] : stored[thread]) {
      BlockElement& element = At(place.first, place.second);
      --element.writers;
      if (element.times == merged_) {
        races = races || !AreSame(element.value, value);
      } else {
        element.times = merged_;
        element.value = std::move(value);
      }
    }
    stored[thread].clear();
  }
  return !races;
}

BlockAccess BlockMemory::Now(std::size_t thread) {
  const std::size_t warp = thread / kLanes;
  if (warp >= meetings_.size()) meetings_.resize(warp + 1);
  return {static_cast<std::int32_t>(thread), barriers_, meetings_[warp]};
}

// By another thread, with no barrier between it and now.
bool BlockMemory::AtTheSameTime(const BlockAccess& access, std::size_t thread) {
  const BlockAccess now = Now(thread);
  if (access.thread < 0 || access.thread == now.thread || access.barriers != now.barriers) return false;
  return static_cast<std::size_t>(access.thread) / kLanes != thread / kLanes || access.meetings == now.meetings;
}

bool BlockMemory::NoteRead(BlockElement& element, std::size_t thread) {
  const BlockAccess now = Now(thread), before = element.read;
  const bool since = before.thread >= 0 && before.barriers == now.barriers;
  if (since && static_cast<std::size_t>(before.thread) / kLanes != thread / kLanes) {
    element.several_warps = true;
  } else if (since && before.meetings == now.meetings) {
    element.several_lanes = element.several_lanes || before.thread != now.thread;
  } else {
    element.several_warps = since && element.several_warps;
    element.several_lanes = false;
    element.read = now;
  }
  return !AtTheSameTime(element.stored, thread) && !UpdatedByOthers(element, thread);
}

// Since they last met.
bool BlockMemory::ReadByOthers(const BlockElement& element, std::size_t thread) {
  const BlockAccess now = Now(thread), before = element.read;
  if (before.thread < 0 || before.barriers != now.barriers) return false;
  return element.several_warps || AtTheSameTime(before, thread) || (element.several_lanes && before.meetings == now.meetings);
}

bool BlockMemory::UpdatedByOthers(const BlockElement& element, std::size_t thread) {
  const BlockAccess& updated = element.updated;
  const bool since = updated.thread >= 0 && updated.barriers == Now(thread).barriers;
  return since && (element.several_updated || AtTheSameTime(updated, thread));
}

bool BlockMemory::NoteStore(BlockElement& element, std::size_t thread) {
  element.stored = Now(thread);
  return !ReadByOthers(element, thread) && !UpdatedByOthers(element, thread);
}

bool BlockMemory::NoteUpdate(BlockElement& element, std::size_t thread) {
  const BlockAccess now = Now(thread), before = element.updated;
  const bool since = before.thread >= 0 && before.barriers == now.barriers;
  element.several_updated = since && (element.several_updated || before.thread != now.thread);
  element.updated = now;
  return !AtTheSameTime(element.stored, thread) && !ReadByOthers(element, thread);
}

}  // namespace evo
