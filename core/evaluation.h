#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "core/bottleneck.h"
#include "core/outcome.h"
#include "core/record_fields.h"

namespace evo {

inline constexpr double kNoValue = std::numeric_limits<double>::quiet_NaN();

// How many instructions of each kind the machine code of a program has, over all its kernels: as they stand in the code, not as
// often as they run. -1: not known, as on the cpu device and for code that this version cannot decode. Kinds do not overlap.
struct InstructionMix {
  int instructions = -1;  // all, without those that only fill the end of a function
  int loads_128 = -1;     // from global memory, of 16 bytes a thread
  int loads_64 = -1;
  int loads_32 = -1;       // of 4 bytes and fewer
  int stores = -1;         // to global memory
  int shared_loads = -1;   // loads of matrices included
  int shared_stores = -1;  // and atomics on shared memory
  int async_copies = -1;   // from global to shared memory, those of the copy engine included
  int tensor_operations = -1;
  int barriers = -1;  // of a block or a cluster
  int conversions = -1;
  int special_functions = -1;
  int integer_operations = -1;
  int float_operations = -1;  // of any precision, on the ordinary pipes
  int branches = -1;
  int local_accesses = -1;  // spilled registers, and arrays that are no registers
};
BOOST_DESCRIBE_STRUCT(InstructionMix, (),
                      (instructions, loads_128, loads_64, loads_32, stores, shared_loads, shared_stores, async_copies,
                       tensor_operations, barriers, conversions, special_functions, integer_operations, float_operations,
                       branches, local_accesses))

// What the compiler and the device report about a program; the largest value where it has several kernels. -1: not known on this
// device.
struct KernelFacts {
  int registers = -1;             // per thread
  int static_shared_bytes = -1;   // per block
  int dynamic_shared_bytes = -1;  // per block, at the last launch
  int spill_bytes = -1;           // spill stores + loads, per thread
  int local_bytes = -1;           // stack frame, per thread
  double occupancy = kNoValue;    // active warps over the most that the device can hold, 0 to 1
  InstructionMix mix{};
};
BOOST_DESCRIBE_STRUCT(KernelFacts, (),
                      (registers, static_shared_bytes, dynamic_shared_bytes, spill_bytes, local_bytes, occupancy, mix))

// Clocks of a device at one moment, as its driver reports them. -1: not known.
struct ClockState {
  int sm_mhz = -1;
  int sm_max_mhz = -1;
  int memory_mhz = -1;
  int temperature_c = -1;
  double power_w = kNoValue;
  std::string throttle_reason;  // why the clocks are below their maximum, in the driver's words: "power cap, thermal"; or empty
  bool disturbed = false;       // the reason is heat or a power brake, so that times taken meanwhile are unreliable
};
BOOST_DESCRIBE_STRUCT(ClockState, (), (sm_mhz, sm_max_mhz, memory_mhz, temperature_c, power_w, throttle_reason, disturbed))

// The measurement of one search case. Times cover the whole declared sequence of launches.
struct CaseMeasurement {
  std::string name;
  double weight = 1;
  double median_ns = kNoValue;  // end of the last record minus start of the first, interpolated between the timer's ticks
  double p10_ns = kNoValue;
  double p90_ns = kNoValue;
  double busy_ns = kNoValue;           // median over the samples of the records' sum
  double wall_ns = kNoValue;           // median wall time; cpu device only
  double tick_ns = 1;                  // resolution of the timer
  std::vector<std::uint32_t> samples;  // spans in ticks, in the order taken
  int discarded = 0;                   // samples left out because the clocks were disturbed
  int outliers = 0;                    // samples far above the median; they are kept
  int sm_low_mhz = -1;                 // lowest and highest clock of the multiprocessors during the timing; -1: not known
  int sm_high_mhz = -1;
  std::string throttle_reason;   // as in ClockState, at the worst moment
  std::string launches;          // in order: "scale<64> grid 8x1x1 block 128x1x1 shared 1024; memset O"
  double bytes = kNoValue;       // that any kernel must move, as the task declares; kNoValue: not declared
  double operations = kNoValue;  // that any kernel must execute, likewise
  bool pruned = false;           // clearly slower than the fastest, therefore timed with few samples and checked on fewer inputs
  double max_error = kNoValue;   // largest absolute error of all checks, over the reference's root mean square
  double l2_error = kNoValue;    // largest relative L2 error of all checks
};
BOOST_DESCRIBE_STRUCT(CaseMeasurement, (),
                      (name, weight, median_ns, p10_ns, p90_ns, busy_ns, wall_ns, tick_ns, samples, discarded, outliers,
                       sm_low_mhz, sm_high_mhz, throttle_reason, launches, bytes, operations, pruned, max_error, l2_error))

// Milliseconds spent on a candidate in each stage; `evo history --timing` sums them.
struct StageClocks {
  double compile_ms = 0;
  double load_ms = 0;
  double check_ms = 0;
  double time_ms = 0;
  double reverification_ms = 0;  // further checks while no other job waited for the device
  double queue_ms = 0;           // waiting for a worker
};
BOOST_DESCRIBE_STRUCT(StageClocks, (), (compile_ms, load_ms, check_ms, time_ms, reverification_ms, queue_ms))

// The inputs on which a candidate failed a check. Drawing again with these values gives the same inputs.
struct Counterexample {
  std::string case_name;  // of the task, or sizes such as "ROWS=1,COLS=1283"; empty: none
  int generator = 0;      // position among the legal generators in the task's list; not used where `inputs` is set
  std::uint64_t seed = 0;
  std::string inputs;  // an input program (evaluator/gate/input_program.h); empty: the generator alone
};
BOOST_DESCRIBE_STRUCT(Counterexample, (), (case_name, generator, seed, inputs))

// The result of evaluating one candidate. outcome is kOk exactly if score_ns is a number.
struct Evaluation {
  Outcome outcome = Outcome::kCancelled;
  Stage stage = Stage::kCompile;  // the last stage begun
  std::string message;            // one line; empty if ok
  std::string log;                // output of the compiler or the worker, at most 16 KiB
  double score_ns = kNoValue;     // weighted geometric mean of the search cases' medians
  std::vector<CaseMeasurement> cases;
  std::string device;       // "cpu" or "cuda"
  std::string device_name;  // the device's own name for itself
  std::string l2;           // "hot" or "cold"
  KernelFacts facts;
  StageClocks clocks;
  int reverification_runs = 0;    // launches in the re-verification
  std::string image_digest;       // of the compiled image that ran
  std::string source_digest;      // of the rendered source
  std::string program_digest;     // of the image and its launches; empty if it was not compiled
  Counterexample counterexample;  // absent unless a check failed
  // Of a program that is ok, where the device was measured (core/diagnosis.h); kNone and empty for others.
  Bottleneck bottleneck = Bottleneck::kNone;
  std::string evidence;  // one line
  // Set if the same program had been evaluated before: the run and the candidate of the database whose evaluation this copies.
  // Run 0 is the present one; candidate 0: not a copy. The database keeps the samples only with the original.
  std::int64_t shared_run = 0;
  std::int64_t shared_candidate = 0;
};
BOOST_DESCRIBE_STRUCT(Evaluation, (),
                      (outcome, stage, message, log, score_ns, cases, device, device_name, l2, facts, clocks, reverification_runs,
                       image_digest, source_digest, program_digest, counterexample, bottleneck, evidence, shared_run,
                       shared_candidate))

// exp(sum w ln t / sum w) over the cases. Precondition: cases is not empty, every median is positive.
double Score(const std::vector<CaseMeasurement>& cases);

}  // namespace evo
