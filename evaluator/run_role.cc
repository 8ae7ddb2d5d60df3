#include "evaluator/run_role.h"

#include <fmt/format.h>

#include <algorithm>
#include <list>
#include <span>

#include "core/digest.h"
#include "evaluator/evaluation_messages.h"
#include "evaluator/gate/gate.h"
#include "evaluator/input_cache.h"
#include "evaluator/timer/timer.h"
#include "kernel_templates/task.h"

namespace evo {
namespace {

// Two runs show most races; more come with the champion's check.
constexpr int kSearchRepeats = 2;
constexpr int kChampionRepeats = 4;
// Three sets: the next launch never meets the data of the last one or of the one before.
constexpr std::size_t kCudaSets = 3;
constexpr std::size_t kCpuSets = 2;
constexpr int kCudaRounds = 100;
constexpr int kCpuRounds = 9;

int GeneratorCount(const Task& task) {
  std::size_t most = 1;
  for (const Argument& argument : task.arguments) most = std::max(most, argument.generators.size());
  return static_cast<int>(most);
}

// A program over the input sets of one case. Members refer to each other, so it stays where it is made.
struct CaseOfProgram {
  Case sizes;
  LaunchBinding binding;
  std::vector<BoundProgram> bound;
  CheckedErrors errors;
};

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

L2State ParseL2(const std::string& name) { return name == "cold" ? L2State::kCold : L2State::kHot; }

}  // namespace

void to_json(nlohmann::json& out, const DeviceInfo& info) {
  out = {{"kind", info.kind},
         {"name", info.name},
         {"arch", info.arch},
         {"ordinal", info.ordinal},
         {"memory_bytes", info.memory_bytes},
         {"l2_bytes", info.l2_bytes},
         {"shared_bytes_per_block", info.shared_bytes_per_block},
         {"shared_bytes_per_block_optin", info.shared_bytes_per_block_optin},
         {"max_threads_per_block", info.max_threads_per_block},
         {"multiprocessors", info.multiprocessors},
         {"tick_ns", info.tick_ns},
         {"driver", info.driver}};
}

void from_json(const nlohmann::json& in, DeviceInfo& info) {
  in.at("kind").get_to(info.kind);
  in.at("name").get_to(info.name);
  in.at("arch").get_to(info.arch);
  in.at("ordinal").get_to(info.ordinal);
  in.at("memory_bytes").get_to(info.memory_bytes);
  in.at("l2_bytes").get_to(info.l2_bytes);
  in.at("shared_bytes_per_block").get_to(info.shared_bytes_per_block);
  in.at("shared_bytes_per_block_optin").get_to(info.shared_bytes_per_block_optin);
  in.at("max_threads_per_block").get_to(info.max_threads_per_block);
  in.at("multiprocessors").get_to(info.multiprocessors);
  in.at("tick_ns").get_to(info.tick_ns);
  in.at("driver").get_to(info.driver);
}

class RunRole::Session {
 public:
  explicit Session(std::unique_ptr<Device> device) : device_(std::move(device)), inputs_(*device_) {}

  const DeviceInfo& info() const { return device_->info(); }
  bool spent() const { return spent_; }

  Message Evaluate(const Message& job, WorkerChannel& channel) {
    Open(job, channel);
    Evaluation evaluation;
    evaluation.device = info().kind;
    evaluation.device_name = info().name;
    evaluation.l2 = job.header.at("l2").get<std::string>();
    const AttachedProgram attached = DetachProgram(job, "candidate");
    evaluation.image_digest = Digest(attached.program.image);
    evaluation.source_digest = Digest(attached.source);
    job.header.at("facts").get_to(evaluation.facts);
    if (auto failure = EvaluateInto(evaluation, attached, job, channel)) {
      evaluation.outcome = failure->outcome;
      evaluation.message = failure->message;
      Remember(*failure);
    } else {
      evaluation.outcome = Outcome::kOk;
      evaluation.score_ns = Score(evaluation.cases);
    }
    return {{{"evaluation", evaluation}}, {}};
  }

  Message CheckChampion(const Message& job, WorkerChannel& channel) {
    Open(job, channel);
    ChampionCheck check;
    if (auto failure = CheckInto(check, job, channel)) {
      check.outcome = failure->outcome;
      check.message = failure->message;
      Remember(*failure);
    } else {
      check.outcome = Outcome::kOk;
      check.candidate_ns = Score(check.candidate);
      check.baseline_ns = Score(check.baseline);
      check.speedup = check.baseline_ns / check.candidate_ns;
    }
    return {{{"check", check}}, {}};
  }

 private:
  void Open(const Message& job, WorkerChannel& channel) {
    channel.Begin("prepare");
    const nlohmann::json& task = job.header.at("task");
    task_ = ParseTask(task.at("json").get<std::string>(), task.at("reference").get<std::string>(), task.at("directory").get<std::string>());
    const AttachedProgram reference = DetachProgram(job, "reference");
    inputs_.Use(*task_, reference.source, reference.program);
    seeds_ = job.header.at("seeds").get<std::vector<std::uint64_t>>();
    // All sets exist before the candidate is loaded: its clock does not pay for them, and its code is not there when answers are computed.
    const int generators = GeneratorCount(*task_);
    for (int g = 0; g < generators; ++g) inputs_.Get(task_->small, g, seeds_.front());
    for (const Case& sizes : SearchCases()) {
      for (std::size_t i = 0; i < SetCount(sizes); ++i) inputs_.Get(sizes, 0, seeds_[i]);
      for (int g = 1; g < SearchGenerators(); ++g) inputs_.Get(sizes, g, seeds_.front());
    }
  }

  const std::vector<Case>& SearchCases() const { return info().kind == "cpu" ? task_->search_cpu : task_->search_cuda; }

  // Generators that the search cases are checked with: all on a GPU; emulation is too slow for more than the timed one.
  int SearchGenerators() const { return info().kind == "cpu" ? 1 : GeneratorCount(*task_); }

  // Several, but with a hot L2 together under half of it.
  std::size_t SetCount(const Case& sizes) {
    const std::size_t most = std::min(seeds_.size(), info().kind == "cpu" ? kCpuSets : kCudaSets);
    if (info().l2_bytes == 0) return most;
    const std::size_t footprint = std::max<std::size_t>(1, inputs_.Get(sizes, 0, seeds_.front()).Footprint());
    return std::clamp<std::size_t>(info().l2_bytes / 2 / footprint, 2, most);
  }

  std::variant<std::unique_ptr<CaseOfProgram>, Failure> Prepare(Program& program, const Case& sizes, const std::vector<InputSet*>& sets) {
    auto made = LaunchBinding::Make(*device_, program, *task_, sizes);
    if (const auto* failure = std::get_if<Failure>(&made)) return *failure;
    auto prepared = std::make_unique<CaseOfProgram>(CaseOfProgram{sizes, std::move(std::get<LaunchBinding>(made)), {}, {}});
    for (InputSet* set : sets) prepared->bound.push_back(BindProgram(program, prepared->binding, *set));
    return prepared;
  }

  std::optional<Failure> CheckCase(Program& program, const Case& sizes, int generators, std::uint64_t seed, int repeats, CheckedErrors& errors) {
    std::vector<InputSet*> sets;
    for (int g = 0; g < generators; ++g) sets.push_back(&inputs_.Get(sizes, g, seed));
    auto prepared = Prepare(program, sizes, sets);
    if (auto* failure = std::get_if<Failure>(&prepared)) return Located(*failure, sizes.name);
    Gate gate(*device_, task_->determinism);
    for (const BoundProgram& bound : std::get<std::unique_ptr<CaseOfProgram>>(prepared)->bound) {
      if (auto failure = gate.Check(bound, repeats, errors)) return Located(*failure, sizes.name);
    }
    return std::nullopt;
  }

  static Failure Located(Failure failure, const std::string& name) {
    failure.message = fmt::format("case {}: {}", name, failure.message);
    return failure;
  }

  std::optional<Failure> PrepareSearchCases(Program& program, std::list<std::unique_ptr<CaseOfProgram>>& cases) {
    for (const Case& sizes : SearchCases()) {
      std::vector<InputSet*> sets;
      for (std::size_t i = 0; i < SetCount(sizes); ++i) sets.push_back(&inputs_.Get(sizes, 0, seeds_[i]));
      auto prepared = Prepare(program, sizes, sets);
      if (auto* failure = std::get_if<Failure>(&prepared)) return Located(*failure, sizes.name);
      cases.push_back(std::move(std::get<std::unique_ptr<CaseOfProgram>>(prepared)));
    }
    return std::nullopt;
  }

  std::optional<Failure> EvaluateInto(Evaluation& evaluation, const AttachedProgram& attached, const Message& job, WorkerChannel& channel) {
    evaluation.stage = Stage::kLoad;
    channel.Begin("load");
    auto loaded = LoadProgram(*device_, attached.source, attached.program);
    if (auto* failure = std::get_if<Failure>(&loaded)) return *failure;
    Program& program = std::get<Program>(loaded);

    evaluation.stage = Stage::kCheck;
    channel.Begin("check");
    CheckedErrors small_errors;
    if (auto failure = CheckCase(program, task_->small, GeneratorCount(*task_), seeds_.front(), kSearchRepeats, small_errors)) return failure;
    std::list<std::unique_ptr<CaseOfProgram>> cases;
    if (auto failure = PrepareSearchCases(program, cases)) return failure;
    Gate gate(*device_, task_->determinism);
    for (const auto& one : cases) {
      if (auto failure = gate.Check(one->bound.front(), kSearchRepeats, one->errors)) return Located(*failure, one->sizes.name);
      // The small case has few elements, and some mistakes need an extreme one: an overflow without its guard, say.
      for (int g = 1; g < SearchGenerators(); ++g) {
        auto prepared = Prepare(program, one->sizes, {&inputs_.Get(one->sizes, g, seeds_.front())});
        if (auto* failure = std::get_if<Failure>(&prepared)) return Located(*failure, one->sizes.name);
        const auto& other = std::get<std::unique_ptr<CaseOfProgram>>(prepared);
        if (auto failure = gate.Check(other->bound.front(), 1, one->errors)) return Located(*failure, one->sizes.name);
      }
    }

    evaluation.stage = Stage::kTime;
    channel.Begin("time", info().kind == "cpu");
    for (const auto& one : cases) {
      auto measured = TimeCase(*one, gate, job);
      if (auto* failure = std::get_if<Failure>(&measured)) return Located(*failure, one->sizes.name);
      evaluation.cases.push_back(std::move(std::get<CaseMeasurement>(measured)));
    }
    evaluation.facts = Merge(evaluation.facts, program.loaded->facts());
    return std::nullopt;
  }

  std::variant<CaseMeasurement, Failure> TimeCase(CaseOfProgram& one, Gate& gate, const Message& job) {
    StoppingCriterion criterion = info().kind == "cpu" ? StoppingCriterion::ForCpu() : StoppingCriterion::ForCuda();
    const nlohmann::json& bounds = job.header.at("give_up_ns");
    if (const auto bound = bounds.find(one.sizes.name); bound != bounds.end()) criterion.give_up_ticks = bound->get<double>() / info().tick_ns;
    Timer timer(*device_, gate, ParseL2(job.header.at("l2").get<std::string>()), criterion, Rng(seeds_.back()).Next() + ++timed_);
    auto measured = timer.Measure(one.bound, one.errors);
    if (auto* result = std::get_if<CaseMeasurement>(&measured)) {
      result->name = one.sizes.name;
      result->weight = one.sizes.weight;
      result->l2_error = one.errors.l2;
      result->max_error = one.errors.max;
    }
    return measured;
  }

  std::optional<Failure> CheckInto(ChampionCheck& check, const Message& job, WorkerChannel& channel) {
    const AttachedProgram candidate = DetachProgram(job, "candidate");
    const AttachedProgram baseline = DetachProgram(job, "baseline");
    channel.Begin("load");
    auto loaded = LoadProgram(*device_, candidate.source, candidate.program);
    if (auto* failure = std::get_if<Failure>(&loaded)) return *failure;
    Program& program = std::get<Program>(loaded);

    channel.Begin("held_out");
    CheckedErrors errors;
    for (const Case& sizes : info().kind == "cpu" ? task_->held_out_cpu : task_->held_out) {
      if (auto failure = CheckCase(program, sizes, GeneratorCount(*task_), seeds_.front(), kChampionRepeats, errors)) return failure;
      check.held_out_cases.push_back(sizes.name);
    }
    auto loaded_baseline = LoadProgram(*device_, baseline.source, baseline.program);
    if (auto* failure = std::get_if<Failure>(&loaded_baseline)) return *failure;
    std::list<std::unique_ptr<CaseOfProgram>> first;
    std::list<std::unique_ptr<CaseOfProgram>> second;
    if (auto failure = PrepareSearchCases(program, first)) return failure;
    if (auto failure = PrepareSearchCases(std::get<Program>(loaded_baseline), second)) return failure;
    Gate gate(*device_, task_->determinism);
    for (const auto& one : first) {
      for (const BoundProgram& bound : one->bound) {
        if (auto failure = gate.Check(bound, kChampionRepeats, one->errors)) return Located(*failure, one->sizes.name);
      }
    }
    channel.Begin("time", info().kind == "cpu");
    return Compare(check, first, second, gate, job);
  }

  std::optional<Failure> Compare(ChampionCheck& check, std::list<std::unique_ptr<CaseOfProgram>>& first,
                                 std::list<std::unique_ptr<CaseOfProgram>>& second, Gate& gate, const Message& job) {
    Timer timer(*device_, gate, ParseL2(job.header.at("l2").get<std::string>()), {}, Rng(seeds_.back()).Next());
    for (auto a = first.begin(), b = second.begin(); a != first.end(); ++a, ++b) {
      auto measured = timer.MeasureInTurn((*a)->bound, (*b)->bound, info().kind == "cpu" ? kCpuRounds : kCudaRounds);
      if (auto* failure = std::get_if<Failure>(&measured)) return Located(*failure, (*a)->sizes.name);
      auto& [candidate, baseline] = std::get<std::pair<CaseMeasurement, CaseMeasurement>>(measured);
      candidate.name = baseline.name = (*a)->sizes.name;
      candidate.weight = baseline.weight = (*a)->sizes.weight;
      candidate.l2_error = (*a)->errors.l2;
      candidate.max_error = (*a)->errors.max;
      check.candidate.push_back(std::move(candidate));
      check.baseline.push_back(std::move(baseline));
    }
    return std::nullopt;
  }

  // What may have written where it should not leaves a process that no later candidate should be judged in.
  void Remember(const Failure& failure) {
    if (failure.sticky || failure.outcome == Outcome::kCheating || failure.outcome == Outcome::kCrash) spent_ = true;
  }

  std::unique_ptr<Device> device_;
  InputCache inputs_;
  std::optional<Task> task_;
  std::vector<std::uint64_t> seeds_;
  std::uint64_t timed_ = 0;
  bool spent_ = false;
};

RunRole::RunRole(std::unique_ptr<Device> device) : session_(std::make_unique<Session>(std::move(device))) {}
RunRole::~RunRole() = default;

nlohmann::json RunRole::Describe() { return {{"device", session_->info()}}; }
bool RunRole::Spent() const { return session_->spent(); }

Message RunRole::Handle(const Message& job, WorkerChannel& channel) {
  try {
    return job.header.at("kind") == "champion" ? session_->CheckChampion(job, channel) : session_->Evaluate(job, channel);
  } catch (const InfrastructureFailure& failure) {
    return {{{"infrastructure", failure.message}}, {}};
  }
}

}  // namespace evo
