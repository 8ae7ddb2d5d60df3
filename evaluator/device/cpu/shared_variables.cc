#include "evaluator/device/cpu/shared_variables.h"

#include <algorithm>

namespace evo {
namespace {

constexpr std::size_t kStaticSharedBytes = 48 * 1024;
constexpr std::size_t kSlotAlignment = 128;

}  // namespace

std::size_t SharedVariables::RoundUp(std::size_t bytes) { return (bytes + kSlotAlignment - 1) / kSlotAlignment * kSlotAlignment; }

void SharedVariables::BeginLaunch(bool spaced) {
  spaced_ = spaced;
  placed_ = declared_ = granted_ = 0;
  places_.clear();
  variables_.clear();
  last_ = 0;
}

std::pair<char*, bool> SharedVariables::Place(unsigned slot, std::size_t bytes) {
  const auto [place, inserted] = places_.try_emplace({slot, bytes}, area_ + placed_);
  if (!inserted) return {place->second, false};
  const std::size_t rounded = RoundUp(bytes);
  declared_ = granted_ + bytes;
  if (declared_ > kStaticSharedBytes || placed_ + rounded > area_bytes_) return {nullptr, false};
  granted_ = std::min(granted_ + rounded, kStaticSharedBytes);
  variables_.push_back({reinterpret_cast<std::uintptr_t>(place->second), bytes});
  placed_ = std::min(placed_ + rounded + (spaced_ ? kSlotAlignment : 0), area_bytes_);
  return {place->second, true};
}

bool SharedVariables::Hold(std::uintptr_t address, std::size_t bytes) {
  if (last_ < variables_.size() && variables_[last_].Holds(address, bytes)) return true;
  for (std::size_t i = 0; i < variables_.size(); ++i) {
    if (!variables_[i].Holds(address, bytes)) continue;
    last_ = i;
    return true;
  }
  return false;
}

const SharedVariables::Variable* SharedVariables::Nearest(std::uintptr_t address) const {
  if (variables_.empty()) return nullptr;
  const Variable* nearest = &variables_.front();
  for (const Variable& variable : variables_) {
    if (variable.begin <= address) nearest = &variable;
  }
  return nearest;
}

}  // namespace evo
