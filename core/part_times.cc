#include "core/part_times.h"

#include <fmt/format.h>

#include <algorithm>

namespace evo {

std::string Part(const std::string& part, double seconds) {
  constexpr double kShownSeconds = 0.05;
  return seconds < kShownSeconds ? "" : fmt::format("{} {:.1f} s", part, seconds);
}

void AddParts(std::string& text, const std::string& parts) {
  if (!text.empty() && !parts.empty()) text += ", ";
  text += parts;
}

void PartTimes::Begin(std::string part, Clock::time_point now) {
  End(now);
  current_ = std::move(part);
  since_ = now;
}

void PartTimes::End(Clock::time_point now) {
  if (current_.empty()) return;
  const auto known = std::find_if(parts_.begin(), parts_.end(), [&](const auto& one) { return one.first == current_; });
  if (known == parts_.end())
    parts_.emplace_back(current_, now - since_);
  else
    known->second += now - since_;
  current_.clear();
}

std::string PartTimes::Text(Clock::time_point now) {
  End(now);
  std::string text;
  for (const auto& [part, time] : parts_) AddParts(text, Part(part, std::chrono::duration<double>(time).count()));
  return text;
}

}  // namespace evo
