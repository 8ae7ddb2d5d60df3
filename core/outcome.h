#pragma once

#include <optional>
#include <string_view>

namespace evo {

// The result of evaluating a candidate. Every evaluation has exactly one. A bad kernel is a result, never an error of the run.
enum class Outcome {
  kOk,
  kCompileError,
  kResourceLimit,  // needs more threads, registers or shared memory than the device has
  kUnsupported,    // valid CUDA that this device or this version of evo does not support
  kLaunchError,    // the launch itself was rejected
  kCrash,          // illegal address, trap, signal
  kTimeout,
  kWrongResult,
  kNondeterministic,  // repeated runs disagree although the task requires the same result
  kCheating,          // wrote outside its buffers, changed an input, launched an undeclared kernel, or was faster than possible
  kSlower,            // of a champion candidate: right, but slower than the baseline on inputs that the search did not time
  kNoisy,             // correct, but could not be timed with the required precision
  kCancelled,         // the run ended before this candidate was evaluated
};

// What a worker is doing. An evaluation ends in one of kCompile, kLoad, kCheck, kTime and kReverify.
enum class Stage {
  kBreed,
  kRender,
  kCompile,
  kMeasure,  // how fast the device is
  kPrepare,  // inputs and reference answers
  kLoad,
  kCheck,
  kTime,
  kReverify,  // idle-time re-verification
  kHeldOut,
};

// The name in the database, in JSON and in messages, such as "wrong_result". Names never change.
std::string_view ToString(Outcome outcome);
std::string_view ToString(Stage stage);
std::optional<Outcome> ParseOutcome(std::string_view text);
std::optional<Stage> ParseStage(std::string_view text);

}  // namespace evo
