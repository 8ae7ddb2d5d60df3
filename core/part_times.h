#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace evo {

// "search 20.0 s"; empty if it is under 0.05 s.
std::string Part(const std::string& part, double seconds);
// Adds parts to a text of them: "inputs 2.1 s, search 20.0 s".
void AddParts(std::string& text, const std::string& parts);

// How long the parts of some work took that follow one another.
class PartTimes {
 public:
  using Clock = std::chrono::steady_clock;

  // Ends the part before. A part that begins again goes on.
  void Begin(std::string part, Clock::time_point now = Clock::now());
  // Ends the last part. Seconds in the order in which the parts began first: "inputs 2.1 s, search 20.0 s". Parts under 0.05 s
  // are left out.
  std::string Text(Clock::time_point now = Clock::now());

 private:
  void End(Clock::time_point now);

  std::vector<std::pair<std::string, Clock::duration>> parts_;
  std::string current_;
  Clock::time_point since_;
};

}  // namespace evo
