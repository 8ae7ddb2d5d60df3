#pragma once

#include "evaluator/device/device_policy.h"

namespace evo {

// Emulated kernels take milliseconds on one CPU thread, and compilers want the same few cores.
inline constexpr DevicePolicy kCpuPolicy{
    .kind = "cpu",
    .cases = CaseScale::kEmulated,
    .checks_all_generators = false,  // emulation is too slow for them
    .input_sets = 2,
    .input_copies = 0,
    .searched_battery = 16,
    .fastest_battery = 16,
    // Emulated kernels are a thousand times slower.
    .probes_timed_sizes = false,
    .largest_probe = {.operations = 1 << 26, .of_search_case = 2, .threads = 1 << 22},
    .adversary_inputs = 2000,
    .adversary_elements = 1 << 13,
    .adversary_time = std::chrono::seconds(10),
    .timed_check_repeats = 2,  // most races show within two runs
    .checks_accesses = true,
    .reverifies_when_idle = false,
    .runs_sanitizers = false,
    .counts_events = false,
    .runs_device_assembly = false,
    .watches_threads = true,  // a kernel that starts one cheats
    // The rest of the machine disturbs a CPU thread by some percent. Seven runs resolve 10%, and most real gains are larger.
    .sampling = {.min_samples = 7, .max_samples = 25, .relative_half_width = 0.02, .max_seconds = 0.25},
    .idle_sampling = std::nullopt,
    .code_placements = 1,
    .interleaved_rounds = 9,
    .other_input_samples = 5,
    .batches_launches = false,
    .reports_wall_time = true,
    .pauses_compilers = true,
    .has_ordinals = false,
    .arch = "sm_90a",  // candidates are compiled as CUDA, too, so that what wins here is valid on a GPU
    .measures_machine = false,
    .standby_worker = false,
    .candidate_deadline = {20, std::chrono::milliseconds(2000)},
    // Compilers and emulated kernels share a few cores: with half as many children a first look ends within a minute.
    .children_per_member = 1,
};

}  // namespace evo
