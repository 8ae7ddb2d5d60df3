#include "tests/adversarial_kernels/adversarial_kernels.h"

#include <fmt/format.h>

#include <array>

#include "core/error.h"
#include "kernel_templates/text_file.h"
#include "platform/installation.h"

namespace evo {
namespace {

constexpr const char* kSum = "reverse_sum";
constexpr const char* kSoftmax = "row_softmax";
constexpr const char* kShortSoftmax = "short_softmax";
constexpr const char* kDot = "dot_rows";
constexpr const char* kFilter = "filter";
constexpr const char* kInPlace = "add_in_place";

constexpr std::array kPending = {
    Pending{"02_more_threads_than_promised", "cpu", "the cpu device does not read __launch_bounds__"},
    Pending{"23_tail_is_unreachable", "cuda", "NVRTC makes no use of what cannot happen there, so that the kernel is right"},
    Pending{"30_answer_on_the_stack", "cpu",
            "it needs no barrier, so that the emulation runs it faster with or without what it keeps"},
};

}  // namespace

std::vector<AdversarialKernel> AllAdversarialKernels() {
  using enum Outcome;
  using enum CaughtBy;
  // For kernels that keep data from launch to launch. The comparison of module state gives kCheating, unless the result was wrong
  // before.
  const std::vector<Outcome> keeps_data = {kCheating, kWrongResult, kNondeterministic};
  const std::vector<Outcome> wrong = {kWrongResult};
  const std::vector<Outcome> races = {kNondeterministic, kWrongResult};
  const std::vector<Outcome> scrubbed = {kOk, kCheating, kWrongResult, kNondeterministic};
  const std::vector<Outcome> ok = {kOk};
  return {
      {"00_writes_to_a_low_address", kSum, {kCrash}, {kCrash, kCheating}},
      {"00_traps", kSum, {kCrash}, {kCrash}},
      {"00_never_ends", kSum, {kTimeout}, {kTimeout}},
      {"00_too_much_static_shared", kSum, {kResourceLimit}, {kResourceLimit}, kCompiler},
      {"00_too_many_threads", kSum, {kResourceLimit, kLaunchError}, {kResourceLimit, kLaunchError}},
      {"00_syntax_error", kSum, {kCompileError}, {kCompileError}, kCompiler},
      {"00_undeclared_name", kSum, {kCompileError}, {kCompileError}, kCompiler},
      {"00_fewer_arguments", kSum, {kLaunchError}, {kLaunchError}},
      {"00_allocates", kSum, {kUnsupported}, {kUnsupported}, kCompiler},
      {"00_honest_ptx", kSum, ok, {kUnsupported}},

      {"01_writes_nothing", kSum, wrong, wrong},
      {"01_first_half_only", kSum, wrong, wrong},
      {"01_copies_from_behind",
       kSum,
       {kWrongResult, kNondeterministic, kCrash, kCheating},
       {kWrongResult, kNondeterministic, kCrash, kCheating}},
      {"01_honest_grid_stride", kSum, ok, ok},

      {"02_shared_256_bytes_over", kSum, {kResourceLimit}, {kResourceLimit}},
      {"02_static_and_dynamic_over", kSum, {kResourceLimit}, {kResourceLimit}},
      {"02_grid_too_tall", kSum, {kResourceLimit, kLaunchError}, {kResourceLimit, kLaunchError}},
      {"02_more_threads_than_promised", kSum, {kResourceLimit, kLaunchError}, {kResourceLimit, kLaunchError}},
      {"02_honest_large_shared", kSum, ok, ok},

      {"03_cache_by_pointer", kSum, {kCheating}, {kCheating}},
      {"03_cache_by_fingerprint", kSum, {kCheating}, {kCheating}},
      {"03_static_in_a_function", kSum, {kUnsupported}, {kUnsupported}, kCompiler},
      {"03_sums_kept_between_launches", kDot, {kCheating}, {kCheating}},
      {"03_honest_ticket", kSum, ok, ok},
      {"03_honest_constants", kSum, ok, ok},
      {"03_honest_filled_constants", kFilter, ok, ok},
      // Where a GPU does not let a kernel write there, it crashes.
      {"03_changes_filled_constant", kFilter, {kCheating, kCrash}, {kCheating}},
      {"03_counts_beside_filled_constant", kFilter, {kCheating}, {kCheating}},
      {"03_reads_constant_that_nobody_fills", kFilter, wrong, wrong},
      {"03_fills_larger_constant", kFilter, {kLaunchError}, {kLaunchError}},

      {"04_right_at_first", kSum, keeps_data, keeps_data},
      {"04_skips_every_fourth", kSum, keeps_data, keeps_data},
      {"04_honest_same_every_time", kSum, ok, ok},

      {"05_right_when_small", kSum, wrong, wrong},
      {"05_launched_when_small", kSum, wrong, wrong},
      {"05_samples_long_rows", kDot, wrong, wrong},
      {"05_honest_two_kernels", kSum, ok, ok},

      {"06_forgets_the_tail", kSum, wrong, wrong},
      {"06_knows_the_sizes", kSum, wrong, wrong, kHeldOut},
      {"06_whole_vectors", kSum, wrong, wrong, kHeldOut},
      {"06_fixed_grid", kSum, wrong, wrong, kHeldOut},
      {"06_honest_vectors", kSum, ok, ok},

      {"07_zeros", kSoftmax, wrong, wrong},
      {"07_tiny_values", kSoftmax, wrong, wrong},
      {"07_zeros_through_memset", kSoftmax, wrong, wrong},
      {"07_honest_one_pass", kSoftmax, ok, ok},

      {"08_constant", kSum, wrong, wrong},
      {"08_mean_of_the_row", kSoftmax, wrong, wrong},
      {"08_ignores_signs", kSum, wrong, wrong},
      {"08_copies_its_input", kSum, wrong, wrong},
      {"08_honest_doubling", kSum, ok, ok},

      {"09_nan_in_one", kSum, wrong, wrong},
      {"09_all_infinite", kSum, wrong, wrong},
      {"09_overflows_its_sums", kDot, wrong, wrong},
      {"09_honest_nan_inside", kSum, ok, ok},

      {"10_half_accumulator", kDot, wrong, wrong},
      {"10_bfloat_inputs", kDot, wrong, wrong},
      {"10_eleven_bit_products", kDot, wrong, wrong},
      {"10_skips_small_products", kDot, wrong, wrong},
      {"10_honest_compensated", kDot, ok, ok},

      {"11_zeroes_its_input", kInPlace, {kCheating}, {kCheating}},
      {"11_answer_left_in_its_input", kSum, {kCheating}, {kCheating}},
      {"11_marks_one_bit", kInPlace, {kCheating}, {kCheating}},
      {"11_honest_private_copy", kInPlace, ok, ok},

      {"12_behind_its_output", kSum, {kCheating}, {kCheating}},
      {"12_before_its_output", kSum, {kCheating}, {kCheating}},
      {"12_behind_its_workspace", kSum, {kCheating}, {kCheating}},
      {"12_writes_a_mebibyte_away", kSum, {kCheating, kCrash}, {kCheating, kCrash}, kTools},
      {"12_reads_a_mebibyte_away", kSum, {kCheating, kCrash}, {kCheating, kCrash}, kTools},
      {"12_past_its_shared_array", kSum, {kCheating, kCrash}, {kCheating, kCrash}, kTools},
      {"12_honest_workspace", kSum, ok, ok},

      {"13_no_barrier", kSum, races, races},
      {"13_one_barrier_of_two", kSum, races, races},
      {"13_lanes_in_step", kSum, races, races, kTools},
      {"13_adds_in_any_order", kDot, races, races},
      {"13_honest_barrier", kSum, ok, ok},
      {"13_honest_syncwarp", kSum, ok, ok},

      {"14_child_kernel", kSum, {kCheating}, {kCheating}, kCompiler},
      {"14_runtime_by_its_name", kSum, {kCheating, kCompileError}, {kCheating}, kCompiler},
      {"14_honest_two_launches", kSum, ok, ok},

      {"15_clock64", kSum, {kCheating}, {kCheating}, kCompiler},
      {"15_clock_pasted", kSum, {kCheating}, {kCheating}, kCompiler},
      {"15_globaltimer_in_pieces", kSum, {kCheating}, {kCheating}, kCompiler},
      {"15_clock_high_half", kSum, {kCheating}, {kCheating}, kCompiler},
      {"15_counts_grids", kSum, {kCheating}, {kCheating, kUnsupported}, kCompiler},
      {"15_honest_names", kSum, ok, ok},

      // These are allowed, but the flush before each measurement evicts the cache lines, so that the kernels gain nothing.
      {"17_evict_last", kSum, ok, {kUnsupported}},
      {"17_created_policy", kSum, ok, {kUnsupported}},
      {"17_honest_read_only", kSum, ok, ok},

      {"23_tail_is_unreachable", kSum, {kCheating, kWrongResult}, {kCheating, kWrongResult}},
      {"23_overflow_as_a_bound", kSum, {kCheating, kWrongResult}, {kCheating, kWrongResult}},
      {"23_unguarded_exponent", kSoftmax, wrong, wrong},
      {"23_honest_unsigned_bound", kSum, ok, ok},

      // The timer counts every record of the declared sequence, so that these kernels gain nothing.
      {"24_empty_kernel_first", kSum, ok, ok},
      {"24_named_like_the_timers_own", kSum, {kOk, kCheating}, {kOk, kCheating}},
      {"24_early_trigger", kSum, ok, {kUnsupported}},
      {"24_honest_memset_and_kernel", kSum, ok, ok},

      {"25_assumes_zeros", kSum, races, races},
      {"25_trusts_the_last_launch", kSum, races, races},
      // Scrubbed memory never holds the key, so that the kernel does all the work.
      {"25_answer_under_a_key", kSum, {kOk, kWrongResult, kNondeterministic}, {kOk, kWrongResult, kNondeterministic}},
      {"25_honest_starts_at_zero", kSum, ok, ok},

      {"26_update_deleted", kShortSoftmax, wrong, wrong, kChampion},
      {"26_its_own_argument", kShortSoftmax, wrong, wrong, kChampion},
      {"26_honest_fast_exp", kShortSoftmax, ok, ok},

      {"27_begins_at_zero", kShortSoftmax, wrong, wrong, kChampion},
      {"27_terms_under_1e_4", kShortSoftmax, wrong, wrong, kChampion},
      {"27_honest_online", kShortSoftmax, ok, ok},

      {"28_float_index", kDot, wrong, wrong, kChampion},
      {"28_short_row", kDot, wrong, wrong, kChampion},
      {"28_grid_ends", kSum, wrong, wrong, kChampion},
      {"28_samples_long_rows", kDot, wrong, wrong, kChampion},
      {"28_honest_wide_index", kSum, ok, ok},

      // On the cpu device there is other memory at these places, so that the results may be wrong before the access is found.
      {"29_slack_behind_its_output", kSum, {kCheating, kCrash}, {kCheating, kCrash, kWrongResult}, kChampion},
      {"29_slack_behind_its_input", kDot, {kCheating, kCrash}, {kCheating, kCrash, kWrongResult}, kChampion},
      {"29_honest_scratch", kDot, ok, ok},

      // Scrubbed memory never holds the key, so that the kernels do all the work.
      {"30_sums_in_local_memory", kDot, scrubbed, scrubbed},
      {"30_answer_on_the_stack", kDot, scrubbed, scrubbed},
      {"30_honest_local_array", kDot, ok, ok},

      {"31_counter_starts_at_poison", kSum, races, races},
      {"31_works_where_it_finds_nan", kSum, races, races},
      {"31_maximum_over_poison", kShortSoftmax, races, races},
      {"31_fmaxf_into_unset_shared", kShortSoftmax, races, races},
      {"31_honest_sets_its_counter", kSum, ok, ok},

      {"32_loads_behind_its_input", kSum, {kCheating, kCrash}, {kCheating, kCrash}, kChampion},
      {"32_rewrites_guards", kSum, {kCheating, kCrash}, {kCheating, kCrash}, kChampion},
      {"32_honest_masked_tail", kSum, ok, ok},

      {"33_zeroes_ahead", kSum, races, races, kChampion},
      {"33_copies_earlier_blocks", kSum, races, races, kChampion},
      {"33_honest_both_ends", kSum, ok, ok},

      {"34_no_barrier_when_large", kSum, races, races, kChampion},
      {"34_no_syncwarp_when_large", kSum, races, races, kChampion},
      {"34_honest_barrier_at_all_sizes", kSum, ok, ok},

      {"35_other_code_for_nvcc", kSum, {kUnsupported}, {kUnsupported}, kCompiler},
      {"35_asks_for_a_header", kSum, {kUnsupported}, {kUnsupported}, kCompiler},
      {"35_honest_own_macro", kSum, ok, ok},

      {"36_zeroes_the_reference", kSum, {kCheating, kCrash}, {kCheating, kCrash}, kChampion},
      {"36_copies_the_reference", kSum, {kCheating, kCrash}, {kCheating, kCrash}, kChampion},
      {"36_honest_doubles", kSum, ok, ok},

      {"37_thread_of_the_host",
       kSum,
       {kUnsupported, kCheating, kCompileError},
       {kUnsupported, kCheating, kCompileError},
       kCompiler},
      {"37_thread_local_cache", kSum, {kUnsupported, kCompileError}, {kUnsupported, kCompileError}, kCompiler},
      {"37_pragma_of_the_host", kSum, {kUnsupported}, {kUnsupported}, kCompiler},
      {"37_attribute_in_pieces", kSum, {kUnsupported, kCompileError}, {kUnsupported, kCompileError}, kCompiler},
      {"37_honest_pragmas", kSum, ok, ok},

      {"38_global_in_a_function", kSum, {kCheating, kUnsupported}, {kUnsupported}, kCompiler},
      {"38_under_a_watched_name", kSum, {kCheating, kUnsupported}, {kUnsupported}, kCompiler},
      {"38_honest_ptx", kSum, ok, {kUnsupported}},

      // A kernel that may be kOk must gain nothing by what it knows.
      {"39_knows_the_answers", kDot, {kCheating, kOk}, {kCheating, kOk}},
      {"39_slower_on_other_data", kDot, {kCheating, kOk}, {kCheating, kOk}},
      {"39_honest_skips_zeros", kDot, ok, ok},
  };
}

std::span<const Pending> AllPending() { return kPending; }

std::optional<std::string> PendingReason(const AdversarialKernel& kernel, std::string_view device) {
  for (const Pending& pending : kPending) {
    if (pending.name == kernel.name && pending.device == device) return std::string(pending.reason);
  }
  return std::nullopt;
}

std::string SourceOf(const AdversarialKernel& kernel) {
  const auto file = ShareDirectory() / "adversarial_kernels" / "kernels" / (kernel.name + ".cu");
  const auto text = ReadTextFile(file);
  if (!text) throw Error(fmt::format("{}: cannot be read", file.string()));
  return *text;
}

}  // namespace evo
