#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/evaluation.h"
#include "core/evaluator.h"
#include "core/machine.h"
#include "core/record_fields.h"
#include "evaluator/compiler/compiler.h"
#include "evaluator/device/device.h"
#include "evaluator/messages/task_survey.h"
#include "evaluator/workers/announced_run.h"
#include "kernel_templates/size_macro.h"

namespace evo {

// Requests of the coordinator to its workers, and their replies. Each type travels as one message
// (evaluator/messages/message_codec.h).

// A rendered source with its compiled image. The PTX is left out, since it is never run.
struct AttachedProgram {
  std::string source;
  CompiledProgram program;
};

// Contents and right answers of cases, by the name of the case, as PackRecorded makes them.
struct AttachedData {
  std::map<std::string, std::string> cases;
};

// To a compile worker: the task and the device for which it compiles. From then on, candidates that the device could not launch
// are refused without being compiled. The answer has no content.
struct LaunchLimitsRequest {
  static constexpr const char* kKind = "launch_limits";
  std::string task_json;
  std::string task_reference;
  std::string task_directory;
  DeviceInfo device;
};
BOOST_DESCRIBE_STRUCT(LaunchLimitsRequest, (), (task_json, task_reference, task_directory, device))

// For which sizes of the task a source that has them compiled in (evo:size) gets images: one for each set of macro values.
struct ImageSizes {
  std::vector<Sizes> needed;   // the source must compile for them; KernelFacts are those of the first
  std::vector<Sizes> wanted;   // where it does not compile, there is no image
  std::vector<Sizes> checked;  // of those above: with checked accesses, too
};
BOOST_DESCRIBE_STRUCT(ImageSizes, (), (needed, wanted, checked))

// To a compile worker. Answered by a CompileResult.
struct CompileRequest {
  static constexpr const char* kKind = "compile";
  std::string source;  // a rendered candidate, or one of our own sources, without directives
  std::string arch;    // "sm_90a"
  // A candidate: it must be possible to launch it on the device. On the cpu device it must also be valid CUDA for `arch`, and is
  // compiled with checked accesses, too.
  bool check = false;
  std::vector<std::string> kernels;  // of a source of ours: what is launched; empty for a candidate, whose directives say it
  ImageSizes sizes{};
  bool line_info = false;  // as in CompilerInput
};
BOOST_DESCRIBE_STRUCT(CompileRequest, (), (source, arch, check, kernels, sizes, line_info))

// To a compile worker: compile with nvcc what the user gets of a kernel. Answered by a CompileResult; the outcome is kCancelled
// where there is no nvcc.
struct ExportRequest {
  static constexpr const char* kKind = "compile_export";
  ExportedKernel exported;
  std::vector<CompiledKernel> kernels;    // must be in the image, under these symbols
  std::vector<CompiledKernel> variables;  // likewise
};
BOOST_DESCRIBE_STRUCT(ExportRequest, (), (exported, kernels, variables))

// To a run worker, before all other requests except MachineRequest: the task and its inputs. Not answered. `only_counts`: no
// request but CountRequest will follow, and other inputs than those that it needs are not drawn. `draws_ahead`: draws at once, by
// several threads, the first sets that candidates of a search meet; otherwise a request has to draw what it needs.
struct SetupRequest {
  static constexpr const char* kKind = "setup";
  std::string task_json;
  std::string task_reference;
  std::string task_directory;
  std::vector<std::uint64_t> seeds;  // of the pool of input sets; the last is the timer's
  std::string l2;                    // "hot" or "cold"
  std::vector<MachineState> machines;
  AttachedProgram reference;
  AttachedProgram baseline;  // decides which inputs are legal; without an image: no hard inputs are tried
  AttachedData recorded;
  std::vector<std::string> uuids;  // of the GPUs of `machines`, in the same order; empty: their ordinals say which is which
  bool only_counts = false;
  bool draws_ahead = true;
};
BOOST_DESCRIBE_STRUCT(SetupRequest, (),
                      (task_json, task_reference, task_directory, seeds, l2, machines, reference, baseline, recorded, uuids,
                       only_counts, draws_ahead))

// Times of one case beyond which a candidate needs no precise figure.
struct CaseBounds {
  double prune_ns = kNoValue;    // beyond it the candidate is clearly slower than the fastest, and measuring may end early
  double decided_ns = kNoValue;  // certainly beyond it the candidate is measured well enough for a parent
  double best_ns = kNoValue;     // of the fastest so far; a candidate below it is checked as the next champion
};
BOOST_DESCRIBE_STRUCT(CaseBounds, (), (prune_ns, decided_ns, best_ns))

// To a run worker: check and time a candidate. Answered by an Evaluation.
struct EvaluateRequest {
  static constexpr const char* kKind = "evaluate";
  AttachedProgram candidate;
  AttachedProgram checked;                   // the same with checked accesses; without an image where the device has none
  KernelFacts facts;                         // from the compiler
  std::map<std::string, CaseBounds> bounds;  // by case name
  std::vector<Counterexample> first;         // inputs that have failed most candidates so far; checked first
  std::vector<AvoidedInputs> avoided;        // the baseline ends its process there
};
BOOST_DESCRIBE_STRUCT(EvaluateRequest, (), (candidate, checked, facts, bounds, first, avoided))

// To a fresh run worker: check a champion candidate on held-out cases and time it interleaved with the baseline. Answered by a
// ChampionCheck.
struct ChampionRequest {
  static constexpr const char* kKind = "champion";
  AttachedProgram candidate;
  AttachedProgram checked;
  AttachedProgram baseline;
  std::vector<Counterexample> first;   // inputs that have failed candidates of this task; checked first
  int adversary_factor = 1;            // how many times the usual number of inputs the adversary tries
  std::vector<AvoidedInputs> avoided;  // left out, which the verdict says
  CheckEffort effort;
};
BOOST_DESCRIBE_STRUCT(ChampionRequest, (), (candidate, checked, baseline, first, adversary_factor, avoided, effort))

// To a fresh run worker: run the reference and the baseline alone on sizes or inputs on which a worker has died. Answered by a
// BaselineResult.
struct BaselineRequest {
  static constexpr const char* kKind = "baseline";
  Counterexample on;
};
BOOST_DESCRIBE_STRUCT(BaselineRequest, (), (on))

struct BaselineResult {
  std::string reason;  // why these are not legal; empty: the baseline is right there
};
BOOST_DESCRIBE_STRUCT(BaselineResult, (), (reason))

// To a fresh run worker: look at the task's own cases, bounds and inputs. Answered by a TaskSurvey.
struct SurveyRequest {
  static constexpr const char* kKind = "survey";
  std::vector<AvoidedInputs> avoided;  // a worker has died there
};
BOOST_DESCRIBE_STRUCT(SurveyRequest, (), (avoided))

// To a run worker: how long does a reference in Python take? Answered by a ReferenceCost.
struct ReferenceRequest {
  static constexpr const char* kKind = "reference";
};
BOOST_DESCRIBE_STRUCT(ReferenceRequest, (), ())

struct ReferenceCost {
  double ms = 0;                   // for an answer to the small case, the median
  std::int64_t first_answers = 0;  // that have to be there before the first candidate can be checked
  std::int64_t check_answers = 0;  // that the check of a champion candidate needs, without the search for counter-examples
};
BOOST_DESCRIBE_STRUCT(ReferenceCost, (), (ms, first_answers, check_answers))

// To a run worker: how fast is this device? Answered by a MachineState, with the "uuid" of the device beside it.
struct MachineRequest {
  static constexpr const char* kKind = "machine";
  AttachedProgram kernels;
};
BOOST_DESCRIBE_STRUCT(MachineRequest, (), (kernels))

// To a run worker that a sanitizer tool watches: run the small case once and check the answer, or run the search case of that
// name once, where no reference runs and nothing is compared: either would take a tool minutes. Answered by a SmallCaseResult.
struct SmallCaseRequest {
  static constexpr const char* kKind = "small_case";
  AttachedProgram candidate;
  std::string search_case;  // empty: the small case
};
BOOST_DESCRIBE_STRUCT(SmallCaseRequest, (), (candidate, search_case))

struct SmallCaseResult {
  std::string failure;  // one line; empty if the answer was right
};
BOOST_DESCRIBE_STRUCT(SmallCaseResult, (), (failure))

// To a fresh run worker whose device counts: what do these two do on the case with the greatest weight? Answered by a
// CountedEvents.
struct CountRequest {
  static constexpr const char* kKind = "count";
  AttachedProgram candidate;
  AttachedProgram
      baseline;      // without an image: the candidate alone is counted, no stalls are sampled, and more requests may follow
  std::string text;  // of the file of whose lines the candidate's image speaks
};
BOOST_DESCRIBE_STRUCT(CountRequest, (), (candidate, baseline, text))

// To a run worker: answer without doing anything. As long as the request of such a job is being made (Job::make_request), the
// worker's device is free for another process.
struct IdleRequest {
  static constexpr const char* kKind = "idle";
};
BOOST_DESCRIBE_STRUCT(IdleRequest, (), ())

struct CountedEvents {
  std::vector<HardwareCounters> counters;
  std::vector<StallLine> stalls;  // of the candidate
  std::string not_counted;        // why something is missing: one line
};
BOOST_DESCRIBE_STRUCT(CountedEvents, (), (counters, stalls, not_counted))

// To a run worker that emulates: run samples of a program's blocks at the sizes that are timed on a GPU, with every access
// checked. Needs no setup. Answered by a ToolResult.
struct BlockSampleRequest {
  static constexpr const char* kKind = "block_sample";
  std::string task_json;
  std::string task_reference;
  std::string task_directory;
  AttachedProgram checked;
  std::uint64_t seed = 0;  // of the inputs and of the choice of blocks
};
BOOST_DESCRIBE_STRUCT(BlockSampleRequest, (), (task_json, task_reference, task_directory, checked, seed))

// The device or the reference failed, not the candidate.
struct InfrastructureReport {
  std::string message;
};
BOOST_DESCRIBE_STRUCT(InfrastructureReport, (), (message))

// What a compile worker is asked, and what a run worker is asked.
using CompileWorkerRequest = std::variant<LaunchLimitsRequest, CompileRequest, ExportRequest>;
using RunRequest = std::variant<SetupRequest, EvaluateRequest, ChampionRequest, BaselineRequest, SurveyRequest, ReferenceRequest,
                                MachineRequest, SmallCaseRequest, CountRequest, IdleRequest, BlockSampleRequest>;

}  // namespace evo
