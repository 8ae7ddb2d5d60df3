#pragma once

#include <optional>
#include <string_view>

namespace evo {

// What became of a candidate. Every evaluation has exactly one; a bad kernel is a result, never an error of the run.
enum class Outcome {
  kOk,
  kCompileError,
  kResourceLimit,  // asks for more threads, registers or shared memory than the device has
  kUnsupported,    // valid CUDA that this device or this version of evo does not take
  kLaunchError,    // the launch itself was refused
  kCrash,          // illegal address, trap, signal
  kTimeout,
  kWrongResult,
  kNondeterministic,  // repeated runs disagree although the task demands they agree
  kCheating,          // wrote outside its buffers, changed an input, ran what was not declared, faster than possible
  kNoisy,             // right, but could not be timed to the wanted precision
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

// Stable spelling, used in the database, in JSON and in messages: "wrong_result".
std::string_view ToString(Outcome outcome);
std::string_view ToString(Stage stage);
std::optional<Outcome> ParseOutcome(std::string_view text);
std::optional<Stage> ParseStage(std::string_view text);

}  // namespace evo
