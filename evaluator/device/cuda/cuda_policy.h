#pragma once

#include "evaluator/device/device_policy.h"

namespace evo {

// Kernels take microseconds on a GPU that nothing else uses.
inline constexpr DevicePolicy kCudaPolicy{
    .kind = "cuda",
    .cases = CaseScale::kGpu,
    .checks_all_generators = true,
    .input_sets = 6,  // no launch meets the data of the last ones
    // Buffer addresses move the time of a short kernel by a percent either way (docs/adr/0013).
    .input_copies = 8,
    .searched_battery = 16,
    .fastest_battery = 0,
    .probes_timed_sizes = true,
    .largest_probe = {.operations = 1 << 30, .of_search_case = 32, .threads = 1e12},
    .adversary_inputs = 2000,
    .adversary_elements = 1 << 20,
    .adversary_time = std::chrono::seconds(20),
    .timed_check_repeats = 1,
    .checks_accesses = false,
    .reverifies_when_idle = true,
    .runs_sanitizers = true,
    .counts_events = true,
    .runs_device_assembly = true,
    .watches_threads = false,
    // Eight samples are the fewest whose order statistics give a 95% interval that leaves out an outlier on either side.
    .sampling = {.min_samples = 8, .max_samples = 300, .relative_half_width = 0.005, .max_seconds = 0.05, .long_seconds = 0.4},
    // Ten rounds over six sets at eight addresses, and a fifth of the difference between two processes that time the same
    // kernel; with cold caches that takes thousands of samples.
    .idle_sampling = SamplingPlan{.min_samples = 8,
                                  .max_samples = 2400,
                                  .usual_samples = 480,
                                  .relative_half_width = 0.001,
                                  .max_seconds = 0.05,
                                  .long_seconds = 0.4},
    .code_placements = 5,       // coprime to the six sets and to their eight addresses: every pair occurs
    .interleaved_rounds = 144,  // three times six sets at eight addresses
    .other_input_samples = 20,
    .batches_launches = true,
    .reports_wall_time = false,
    .pauses_compilers = false,
    .has_ordinals = true,
    .arch = "",
    .measures_machine = true,
    .standby_worker = true,
    // A candidate four times slower than the baseline is of no use, and a kernel that hangs blocks the whole GPU.
    .candidate_deadline = {4, std::chrono::milliseconds(400)},
    .children_per_member = 2,
};

}  // namespace evo
