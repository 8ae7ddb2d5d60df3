#include "evaluator/session/run_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "core/digest.h"
#include "evaluator/gate/degenerate_answers.h"
#include "evaluator/timer/machine_check.h"

namespace evo {
namespace {

// Two runs show most races; more come with the champion's check.
constexpr int kSearchRepeats = 2;
// The next launch never meets the data of the last ones.
constexpr std::size_t kCudaSets = 6;
// Where the buffers lie moves the time of a short kernel by a percent either way (docs/results.md): it is timed on so many copies
// of each set.
constexpr std::size_t kMostCopies = 8;
// Of the device's memory, for all sets of a case, where they are so large.
constexpr std::size_t kSetsShare = 16;
// Times L2: what fills it anyway has no place there that could be better or worse, and takes seconds to draw.
constexpr std::size_t kSetsInL2 = 4;
constexpr std::size_t kCpuSets = 2;

std::size_t ArgumentBytes(const Task& task, const Case& sizes) {
  const Variables variables = CaseVariables(task, sizes);
  std::size_t bytes = 0;
  for (const Argument& argument : task.arguments) {
    if (argument.role != Role::kScalar)
      bytes += static_cast<std::size_t>(ElementCount(argument, variables)) * ByteSize(argument.dtype);
  }
  return bytes;
}

KernelFacts Merge(KernelFacts compiled, const KernelFacts& loaded) {
  const auto take = [](int& into, int from) {
    if (from >= 0 && into < 0) into = from;
  };
  take(compiled.registers, loaded.registers);
  take(compiled.static_shared_bytes, loaded.static_shared_bytes);
  take(compiled.local_bytes, loaded.local_bytes);
  take(compiled.spill_bytes, loaded.spill_bytes);
  compiled.dynamic_shared_bytes = loaded.dynamic_shared_bytes;
  compiled.occupancy = loaded.occupancy;
  return compiled;
}

}  // namespace

RunSession::RunSession(std::unique_ptr<Device> device, std::function<bool()> jobs_wait,
                       std::chrono::milliseconds reverification_time)
    : device_(std::move(device)),
      jobs_wait_(std::move(jobs_wait)),
      reverification_time_(reverification_time),
      inputs_(*device_) {}

void RunSession::Setup(const SetupRequest& request) {
  task_ = ParseTask(request.task_json, request.task_reference, request.task_directory);
  inputs_.Use(*task_, request.reference.source, request.reference.program);
  seeds_ = request.seeds;
  l2_ = request.l2 == "cold" ? L2State::kCold : L2State::kHot;
  for (const MachineState& machine : request.machines) {
    if (machine.ordinal == info().ordinal) machine_ = machine;
  }
  placed_ = false;
  inputs_.Draw(PoolSets());
}

// The sets that candidates of the search meet: the small case with every generator; the search cases with the first generator
// from several seeds, for timing, and with the others.
std::vector<InputCache::Wanted> RunSession::PoolSets() const {
  std::vector<InputCache::Wanted> sets;
  for (int g = 0; g < Generators(); ++g) sets.push_back({task_->small, g, seeds_.front()});
  for (const Case& sizes : SearchCases()) {
    for (std::size_t i = 0; i < SetCount(sizes); ++i) sets.push_back({sizes, 0, seeds_[i]});
    for (int g = 1; g < SearchGenerators(); ++g) sets.push_back({sizes, g, seeds_.front()});
  }
  return sets;
}

// All sets of the run exist before a candidate is loaded: its clock does not pay for them, and its code is not there when answers
// are computed.
void RunSession::PlaceInputs(WorkerChannel& channel) {
  channel.Begin(Stage::kPrepare);
  if (placed_) return;
  for (const InputCache::Wanted& set : PoolSets()) inputs_.Get(set.sizes, set.generator, set.seed);
  for (const Case& sizes : SearchCases()) {
    TimedSets(sizes);
    for (int g = 1; g < SearchGenerators(); ++g) SetLikeTimed(sizes, g);
  }
  RefuseLaxTask();
  placed_ = true;
}

void RunSession::RefuseLaxTask() {
  std::vector<InputSet*> sets;
  for (int g = 0; g < Generators(); ++g) sets.push_back(&inputs_.Get(task_->small, g, seeds_.front()));
  for (const Case& sizes : SearchCases()) sets.push_back(&inputs_.Get(sizes, 0, seeds_.front()));
  const std::string passing = FindPassingDegenerateAnswer(*device_, sets);
  if (passing.empty()) return;
  throw InfrastructureFailure{
      fmt::format("task {}: a kernel that {} would pass its checks; tighten the tolerance or add generators in task.json",
                  task_->name, passing)};
}

int RunSession::Generators() const {
  std::size_t most = 1;
  for (const Argument& argument : task_->arguments) most = std::max(most, argument.generators.size());
  return static_cast<int>(most);
}

Failure RunSession::Located(Failure failure, const std::string& name) {
  failure.message = fmt::format("case {}: {}", name, failure.message);
  return failure;
}

const std::vector<Case>& RunSession::SearchCases() const { return info().kind == "cpu" ? task_->search_cpu : task_->search_cuda; }

// Generators that the search cases are checked with: all on a GPU; emulation is too slow for more than the timed one.
int RunSession::SearchGenerators() const { return info().kind == "cpu" ? 1 : Generators(); }

// What is to be hot is brought back into L2 before each launch, however many there are.
std::size_t RunSession::SetCount(const Case& sizes) const {
  const std::size_t most = std::min(seeds_.size(), info().kind == "cpu" ? kCpuSets : kCudaSets);
  if (info().memory_bytes == 0) return most;
  const std::size_t bytes = std::max<std::size_t>(1, ArgumentBytes(*task_, sizes));
  std::size_t wanted = info().memory_bytes / kSetsShare / bytes;
  if (info().l2_bytes > 0) wanted = std::min(wanted, kSetsInL2 * info().l2_bytes / bytes);
  return std::clamp<std::size_t>(wanted, 2, most);
}

// As many as are together no larger than what fills L2 anyway; none of what is larger itself.
std::size_t RunSession::CopyCount(const Case& sizes) const {
  if (info().kind == "cpu") return 0;
  const std::size_t bytes = std::max<std::size_t>(1, SetCount(sizes) * ArgumentBytes(*task_, sizes));
  return std::min(kSetsInL2 * info().l2_bytes / bytes, kMostCopies);
}

// In every round over the sets each lies in another place: a short measurement sees several, too.
std::vector<InputSet*> RunSession::TimedSets(const Case& sizes) {
  std::vector<InputSet*> sets;
  const std::size_t copies = CopyCount(sizes);
  for (std::size_t round = 0; round < std::max<std::size_t>(copies, 1); ++round) {
    for (std::size_t i = 0; i < SetCount(sizes); ++i)
      sets.push_back(&inputs_.Get(sizes, 0, seeds_[i], copies == 0 ? 0 : 1 + (round + i) % copies));
  }
  return sets;
}

// Of a search case, as it is timed: what sees from its arguments' addresses that it is timed meets all legal inputs there.
InputSet& RunSession::SetLikeTimed(const Case& sizes, int generator) {
  return inputs_.Get(sizes, generator, seeds_.front(), std::min<std::size_t>(CopyCount(sizes), 1));
}

// What is cheap: the small case with every generator. Before it the inputs that have killed most candidates so far.
std::vector<RunSession::Probe> RunSession::FirstProbes(const std::optional<CaseInputs>& first) const {
  std::vector<Probe> probes;
  for (int g = 0; g < Generators(); ++g) probes.push_back({&task_->small, g, kSearchRepeats});
  if (!first) return probes;
  const auto& [name, generator] = *first;
  const auto small = std::find_if(probes.begin(), probes.end(), [&](const Probe& p) {
    return p.sizes->name == first->case_name && p.generator == first->generator;
  });
  if (small != probes.end()) std::rotate(probes.begin(), small, small + 1);
  for (const Case& sizes : SearchCases()) {
    if (sizes.name == name && generator < SearchGenerators()) probes.insert(probes.begin(), {&sizes, generator, 1});
  }
  return probes;
}

Evaluation RunSession::Evaluate(const EvaluateRequest& request, WorkerChannel& channel) {
  PlaceInputs(channel);
  Evaluation evaluation;
  evaluation.device = info().kind;
  evaluation.device_name = info().name;
  evaluation.l2 = l2_ == L2State::kCold ? "cold" : "hot";
  evaluation.image_digest = Digest(request.candidate.program.image);
  evaluation.source_digest = Digest(request.candidate.source);
  evaluation.facts = request.facts;
  // Before the candidate is loaded: its code is not there when the answer is computed.
  Fresh fresh;
  if (info().kind == "cuda" && !jobs_wait_()) fresh = DrawFresh(evaluation.source_digest);
  if (auto failure = EvaluateInto(evaluation, request, fresh, channel)) {
    evaluation.outcome = failure->outcome;
    evaluation.message = failure->message;
    NoteContamination(*failure);
  } else {
    evaluation.outcome = Outcome::kOk;
    evaluation.score_ns = Score(evaluation.cases);
  }
  return evaluation;
}

std::optional<Failure> RunSession::EvaluateInto(Evaluation& evaluation, const EvaluateRequest& request, const Fresh& fresh,
                                                WorkerChannel& channel) {
  evaluation.stage = Stage::kLoad;
  channel.Begin(Stage::kLoad);
  auto loaded = LoadProgram(*device_, request.candidate.source, request.candidate.program,
                            info().kind == "cuda" && !jobs_wait_() ? kCodePlacements : 1);
  if (auto* failure = std::get_if<Failure>(&loaded)) return *failure;
  Program& program = std::get<Program>(loaded);

  evaluation.stage = Stage::kCheck;
  channel.Begin(Stage::kCheck);
  Gate gate(*device_, task_->determinism);
  for (const Probe& probe : FirstProbes(request.first)) {
    CheckedErrors errors;
    if (auto failure = Noted(evaluation, CheckProbe(program, gate, probe, errors), probe)) return failure;
  }
  if (auto failure = Noted(evaluation, CheckAccesses(request.checked, 1), {&task_->small, 0, 1})) return failure;
  std::list<std::unique_ptr<CaseOfProgram>> cases;
  if (auto failure = PrepareSearchCases(program, cases)) return failure;
  for (const auto& one : cases) {
    if (auto failure = CheckAndTime(evaluation, program, gate, *one, request, channel)) return failure;
  }
  evaluation.facts = Merge(evaluation.facts, program.loaded->facts());
  if (fresh.set != nullptr) return Reverify(evaluation, program, gate, fresh, channel);
  return std::nullopt;
}

// On the inputs that are timed, then timed, then on all others that are legal: the small case has few elements, and some mistakes
// need an extreme one, an overflow without its guard, say. One that is clearly slow is spared them; it cannot become the
// champion.
std::optional<Failure> RunSession::CheckAndTime(Evaluation& evaluation, Program& program, Gate& gate, CaseOfProgram& one,
                                                const EvaluateRequest& request, WorkerChannel& channel) {
  const Probe timed{&one.sizes, 0, info().kind == "cpu" ? kSearchRepeats : 1};
  const auto check_start = std::chrono::steady_clock::now();
  auto failure = gate.Check(one.bound.front(), timed.repeats, one.errors);
  const std::chrono::duration<double, std::nano> checked = std::chrono::steady_clock::now() - check_start;
  if (failure) return Noted(evaluation, Located(*failure, one.sizes.name), timed);
  evaluation.stage = Stage::kTime;
  channel.Begin(Stage::kTime, info().kind == "cpu");
  auto measured = TimeCase(one, gate, request, checked.count() / timed.repeats);
  if (auto* failed = std::get_if<Failure>(&measured)) return Noted(evaluation, Located(*failed, one.sizes.name), timed);
  evaluation.stage = Stage::kCheck;
  channel.Begin(Stage::kCheck);
  CaseMeasurement& measurement = std::get<CaseMeasurement>(measured);
  for (int g = 1; g < SearchGenerators() && !measurement.pruned; ++g) {
    const Probe probe{&one.sizes, g, 1};
    if ((failure = Noted(evaluation, CheckProbe(program, gate, probe, one.errors), probe))) return failure;
  }
  measurement.l2_error = one.errors.l2;
  measurement.max_error = one.errors.max;
  evaluation.cases.push_back(std::move(measurement));
  evaluation.stage = Stage::kTime;
  return std::nullopt;
}

std::optional<Failure> RunSession::CheckAccesses(const AttachedProgram& checked, int generators) {
  if (checked.program.image.empty()) return std::nullopt;
  auto loaded = LoadProgram(*device_, checked.source, checked.program);
  if (auto* failure = std::get_if<Failure>(&loaded)) return *failure;
  Gate gate(*device_, task_->determinism);
  CheckedErrors errors;
  for (int g = 0; g < generators; ++g) {
    if (auto failure = CheckProbe(std::get<Program>(loaded), gate, {&task_->small, g, 1}, errors)) return failure;
  }
  return std::nullopt;
}

std::optional<Failure> RunSession::Noted(Evaluation& evaluation, std::optional<Failure> failure, const Probe& probe) const {
  if (failure) evaluation.counterexample = {probe.sizes->name, probe.generator, seeds_.front()};
  return failure;
}

std::optional<Failure> RunSession::CheckProbe(Program& program, Gate& gate, const Probe& probe, CheckedErrors& errors) {
  const std::vector<Case>& timed = SearchCases();
  const bool is_timed =
      std::any_of(timed.begin(), timed.end(), [&](const Case& sizes) { return sizes.name == probe.sizes->name; });
  InputSet& set =
      is_timed ? SetLikeTimed(*probe.sizes, probe.generator) : inputs_.Get(*probe.sizes, probe.generator, seeds_.front());
  return CheckOn(program, gate, *probe.sizes, set, probe.repeats, errors);
}

std::optional<Failure> RunSession::CheckOn(Program& program, Gate& gate, const Case& sizes, InputSet& set, int repeats,
                                           CheckedErrors& errors) {
  auto prepared = Prepare(program, sizes, {&set});
  if (auto* failure = std::get_if<Failure>(&prepared)) return Located(*failure, sizes.name);
  auto failure = gate.Check(std::get<std::unique_ptr<CaseOfProgram>>(prepared)->bound.front(), repeats, errors);
  if (failure) return Located(*failure, sizes.name);
  return std::nullopt;
}

std::variant<std::unique_ptr<CaseOfProgram>, Failure> RunSession::Prepare(Program& program, const Case& sizes,
                                                                          const std::vector<InputSet*>& sets) {
  auto made = LaunchBinding::Make(*device_, program, *task_, sizes);
  if (const auto* failure = std::get_if<Failure>(&made)) return *failure;
  auto prepared = std::make_unique<CaseOfProgram>(CaseOfProgram{sizes, std::move(std::get<LaunchBinding>(made)), {}, {}});
  for (InputSet* set : sets) prepared->bound.push_back(BindProgram(program, prepared->binding, *set));
  return prepared;
}

std::optional<Failure> RunSession::PrepareSearchCases(Program& program, std::list<std::unique_ptr<CaseOfProgram>>& cases) {
  for (const Case& sizes : SearchCases()) {
    auto prepared = Prepare(program, sizes, TimedSets(sizes));
    if (auto* failure = std::get_if<Failure>(&prepared)) return Located(*failure, sizes.name);
    cases.push_back(std::move(std::get<std::unique_ptr<CaseOfProgram>>(prepared)));
  }
  return std::nullopt;
}

std::variant<CaseMeasurement, Failure> RunSession::TimeCase(CaseOfProgram& one, Gate& gate, const EvaluateRequest& request,
                                                            double checked_ns) {
  const auto bound = request.bounds.find(one.sizes.name);
  const auto raced = [&](StoppingCriterion criterion) {
    if (bound == request.bounds.end()) return criterion;
    criterion.prune_ticks = bound->second.prune_ns / info().tick_ns;
    // A check launches once; what is not the kernel's takes it less than a millisecond.
    constexpr double kCheckNs = 1e6;
    criterion.looks_hopeless = checked_ns > kCheckNs + StoppingCriterion::kHopelessFactor * bound->second.prune_ns;
    criterion.decided_ticks = bound->second.decided_ns / info().tick_ns;
    return criterion;
  };
  const bool on_gpu = info().kind == "cuda";
  std::optional<IdleMeasurement> idle;
  if (on_gpu) idle = IdleMeasurement{raced(StoppingCriterion::ForIdleCuda()), jobs_wait_};
  Timer timer(*device_, gate, l2_, raced(on_gpu ? StoppingCriterion::ForCuda() : StoppingCriterion::ForCpu()),
              Rng(seeds_.back()).Next() + ++timed_);
  auto measured = timer.Measure(one.bound, one.errors, idle);
  if (auto* result = std::get_if<CaseMeasurement>(&measured)) {
    Describe(*result, one);
    if (auto failure = CheckFloor(*result)) return *failure;
  }
  return measured;
}

void RunSession::Describe(CaseMeasurement& measured, const CaseOfProgram& one) const {
  measured.name = one.sizes.name;
  measured.weight = one.sizes.weight;
  measured.launches = one.binding.Describe();
  const Variables variables = CaseVariables(*task_, one.sizes);
  const auto declared = [&](const Expression& expression) {
    const double value = expression.Evaluate(variables).AsReal();
    return value > 0 ? value : kNoValue;
  };
  measured.bytes = declared(task_->bytes);
  measured.operations = declared(task_->operations);
}

std::optional<Failure> RunSession::CheckFloor(const CaseMeasurement& measured) const {
  const double floor = FloorNs(machine_, measured.bytes, measured.operations);
  if (!(measured.median_ns < floor)) return std::nullopt;
  return Failure{
      Outcome::kCheating,
      fmt::format(
          "{:.3f} us, where this GPU needs {:.3f} us at least for {:.4g} bytes and {:.4g} operations: it was not all done "
          "while it was timed, or task.json declares too much",
          measured.median_ns / 1e3, floor / 1e3, measured.bytes, measured.operations)};
}

MachineState RunSession::Measure(const MachineRequest& request, WorkerChannel& channel) {
  channel.Begin(Stage::kMeasure);
  const LoadResult loaded = device_->Load(request.kernels.program, 1);
  if (!loaded.status.ok())
    throw InfrastructureFailure{fmt::format("our own kernels do not load on {}: {}", info().name, loaded.status.message)};
  auto measured = MeasureMachine(*device_, *loaded.program);
  if (const auto* failure = std::get_if<Failure>(&measured))
    throw InfrastructureFailure{fmt::format("{}: {}", info().name, failure->message)};
  return std::get<MachineState>(measured);
}

std::string RunSession::RunOnce(const SmallCaseRequest& request, WorkerChannel& channel) {
  channel.Begin(Stage::kLoad);
  auto loaded = LoadProgram(*device_, request.candidate.source, request.candidate.program);
  if (auto* failure = std::get_if<Failure>(&loaded)) return failure->message;
  channel.Begin(Stage::kCheck);
  Gate gate(*device_, task_->determinism);
  CheckedErrors errors;
  const auto failure = CheckProbe(std::get<Program>(loaded), gate, {&task_->small, 0, 1}, errors);
  return failure ? failure->message : "";
}

// What may have written where it should not leaves a process that no later candidate should be judged in.
void RunSession::NoteContamination(const Failure& failure) {
  if (failure.sticky || failure.outcome == Outcome::kCheating || failure.outcome == Outcome::kCrash) must_restart_ = true;
}

}  // namespace evo
