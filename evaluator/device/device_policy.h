#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "kernel_templates/case_scale.h"

namespace evo {

// How many launches are timed before a median counts as measured.
struct SamplingPlan {
  int min_samples = 20;
  int max_samples = 200;
  int usual_samples = 0;               // measuring ends earlier only after `max_seconds`
  double relative_half_width = 0.005;  // of the 95% confidence interval of the median
  double max_seconds = 0.25;           // kernel time spent on one case
  // A kernel so slow that `long_samples` of it take that long is measured well enough with them. 0: with `min_samples`.
  double long_seconds = 0;
  static constexpr int long_samples = 3;
};

// What one kind of device can do, and how candidates are checked and timed there. A plain value: the coordinator reads it
// without linking the device. No other code compares a device's name.
struct DevicePolicy {
  // How long a stage of a candidate may take: this many times what the baseline took, but at least `least`.
  struct DeadlineFactor {
    double of_baseline;
    std::chrono::milliseconds least;
  };

  // The most arithmetic that one unusual size may ask for, as the task declares it: the larger of the two.
  struct LargestProbe {
    double operations;
    double of_search_case;  // times the operations of the first search case
    double threads;         // that a candidate starts there; with more, the size is left out
  };

  std::string_view kind;  // as the user and the database spell it

  // Cases and inputs.
  CaseScale cases;
  bool checks_all_generators;  // on the search cases, too; otherwise those are checked with the timed generator only
  std::size_t input_sets;      // for each timed case, at most: the timer rotates among them
  std::size_t input_copies;    // of each of these sets at other addresses, at most; 0: the set itself is timed

  // Checking.
  std::size_t searched_battery;  // inputs of the standard battery that a candidate of the search is checked on
  std::size_t fastest_battery;   // the same if it is faster than all before it; 0: the whole battery
  bool probes_timed_sizes;       // a champion candidate is tried at sizes around the timed ones; otherwise around the small ones
  LargestProbe largest_probe;
  int adversary_inputs;                      // tried on a champion candidate
  std::int64_t adversary_elements;           // of the largest argument of such an input
  std::chrono::milliseconds adversary_time;  // ends the search for counter-examples earlier
  int timed_check_repeats;                   // runs of a search case before it is timed
  bool checks_accesses;       // a candidate is compiled twice: as CUDA for a GPU, and with every memory access checked
  bool reverifies_when_idle;  // while no job waits, candidates are checked on further inputs
  bool runs_sanitizers;       // a champion candidate runs under compute-sanitizer
  bool counts_events;         // hardware counters tell what a champion candidate spends its time on
  bool runs_device_assembly;  // kernels may contain PTX and use tensor maps
  bool watches_threads;       // no other thread of the process works while a program runs

  // Timing.
  SamplingPlan sampling;
  std::optional<SamplingPlan> idle_sampling;  // while no job waits
  std::size_t code_placements;                // load addresses per program when timing precisely
  int interleaved_rounds;                     // of a champion candidate and the baseline
  int other_input_samples;                    // on each generator that is not the timed one
  bool batches_launches;                      // several launches between two looks at the clock
  bool reports_wall_time;                     // SequenceTime::wall_ns is filled in
  bool pauses_compilers;                      // compilers share the timed processor and stand still while a kernel is timed

  // Running.
  bool has_ordinals;                  // there may be several, numbered from 0
  std::string_view arch;              // compile target of candidates; empty: that of the device itself
  bool measures_machine;              // its best rates are measured, and no kernel may seem faster
  bool standby_worker;                // a second worker process is kept ready for each device
  DeadlineFactor candidate_deadline;  // for checking and timing one candidate
  int children_per_member;            // default number of children over the population's size
};

// The larger of the two batteries of a search; 0: the whole.
inline std::size_t BatteryOfSearch(const DevicePolicy& policy) {
  return policy.fastest_battery == 0 ? 0 : std::max(policy.searched_battery, policy.fastest_battery);
}

// Every kind of device: the list that a new kind is added to.
std::span<const DevicePolicy> DevicePolicies();

// The policy of that kind among `known`. Throws Error for a kind that is not there, and names those that are.
const DevicePolicy& PolicyOf(std::string_view kind, std::span<const DevicePolicy> known = DevicePolicies());

}  // namespace evo
