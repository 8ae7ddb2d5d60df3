#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "core/outcome.h"
#include "core/record_fields.h"

namespace evo {

inline constexpr double kNoValue = std::numeric_limits<double>::quiet_NaN();

// What the compiler and the device say of a program. -1: not known on this device. Over several kernels: the largest.
struct KernelFacts {
  int registers = -1;             // per thread
  int static_shared_bytes = -1;   // per block
  int dynamic_shared_bytes = -1;  // per block, of the slowest-weighted search case
  int spill_bytes = -1;           // spill stores + loads, per thread
  int local_bytes = -1;           // stack frame, per thread
  double occupancy = kNoValue;    // active warps of the device's most, 0 to 1
};
BOOST_DESCRIBE_STRUCT(KernelFacts, (),
                      (registers, static_shared_bytes, dynamic_shared_bytes, spill_bytes, local_bytes, occupancy))

// Clocks of a device at a moment, from its driver. -1: not known.
struct ClockState {
  int sm_mhz = -1;
  int sm_max_mhz = -1;
  int memory_mhz = -1;
  int temperature_c = -1;
  double power_w = kNoValue;
  std::string
      throttle_reason;     // why the clocks are below their most, as the driver says: "power cap, thermal"; empty: they are not
  bool disturbed = false;  // heat or a power brake holds them back: what was timed meanwhile says little
};
BOOST_DESCRIBE_STRUCT(ClockState, (), (sm_mhz, sm_max_mhz, memory_mhz, temperature_c, power_w, throttle_reason, disturbed))

// One search case, measured. Times are of the whole declared sequence.
struct CaseMeasurement {
  std::string name;
  double weight = 1;
  double median_ns = kNoValue;  // end of the last record minus start of the first; interpolated over the timer's ticks
  double p10_ns = kNoValue;
  double p90_ns = kNoValue;
  double busy_ns = kNoValue;           // median of the sum of the records
  double wall_ns = kNoValue;           // median wall time; cpu device only
  double tick_ns = 1;                  // resolution of the timer
  std::vector<std::uint32_t> samples;  // spans in ticks, in the order taken
  int discarded = 0;                   // samples thrown away as disturbed
  int outliers = 0;                    // samples far above the median; kept
  int sm_low_mhz = -1;                 // clock of the multiprocessors while it was timed, lowest and highest; -1: not known
  int sm_high_mhz = -1;
  std::string throttle_reason;  // as in ClockState, of the worst moment
  std::string launches;         // "scale<64> grid 8x1x1 block 128x1x1 shared 1024; memset O", in order
  double bytes = kNoValue;      // least to be moved, and operations to be done, as the task declares; kNoValue: it does not
  double operations = kNoValue;
  bool pruned = false;          // clearly slower than the fastest: few samples, and checked on fewer inputs
  double max_error = kNoValue;  // largest absolute error over the reference's root mean square, over all checks
  double l2_error = kNoValue;   // largest relative L2 error over all checks
};
BOOST_DESCRIBE_STRUCT(CaseMeasurement, (),
                      (name, weight, median_ns, p10_ns, p90_ns, busy_ns, wall_ns, tick_ns, samples, discarded, outliers,
                       sm_low_mhz, sm_high_mhz, throttle_reason, launches, bytes, operations, pruned, max_error, l2_error))

// Milliseconds spent on a candidate, for `evo history --timing`.
struct StageClocks {
  double compile_ms = 0;
  double load_ms = 0;
  double check_ms = 0;
  double time_ms = 0;
  double reverification_ms = 0;  // further checks while nothing else waited for the device
  double queue_ms = 0;           // waiting for a worker
};
BOOST_DESCRIBE_STRUCT(StageClocks, (), (compile_ms, load_ms, check_ms, time_ms, reverification_ms, queue_ms))

// The inputs on which a candidate was found out: drawn again from these they are the same.
struct Counterexample {
  std::string case_name;  // empty: none
  int generator = 0;      // number of the legal generator, counted as the task lists them
  std::uint64_t seed = 0;
};
BOOST_DESCRIBE_STRUCT(Counterexample, (), (case_name, generator, seed))

// The result of evaluating one candidate. outcome is kOk exactly if score_ns is a number.
struct Evaluation {
  Outcome outcome = Outcome::kCancelled;
  Stage stage = Stage::kCompile;  // the last stage begun
  std::string message;            // one line; empty if ok
  std::string log;                // compiler's or worker's own words, at most 16 KiB
  double score_ns = kNoValue;     // geometric mean of the search cases' medians, weighted
  std::vector<CaseMeasurement> cases;
  KernelFacts facts;
  StageClocks clocks;
  std::string device;             // "cpu" or "cuda"
  std::string device_name;        // as the device calls itself
  std::string l2;                 // "hot" or "cold"
  std::string image_digest;       // of the compiled image that was run
  std::string source_digest;      // of the rendered source
  std::string program_digest;     // of the image and of how it is launched; empty if it was not compiled
  int reverification_runs = 0;    // launches of those further checks
  Counterexample counterexample;  // of a candidate that failed a check
  // Where this evaluation was taken from, if the same program had been evaluated before: a run and a candidate of the database,
  // the run 0 for this one; candidate 0 if it was evaluated for itself. The database keeps the samples there.
  std::int64_t shared_run = 0;
  std::int64_t shared_candidate = 0;
};
BOOST_DESCRIBE_STRUCT(Evaluation, (),
                      (outcome, stage, message, log, score_ns, cases, facts, clocks, device, device_name, l2, image_digest,
                       source_digest, program_digest, reverification_runs, counterexample, shared_run, shared_candidate))

// exp(sum w ln t / sum w) over the cases. Precondition: cases is not empty, every median is positive.
double Score(const std::vector<CaseMeasurement>& cases);

}  // namespace evo
