#include "evaluator/session/input_cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <utility>
#include <vector>

#include "core/digest.h"
#include "core/error.h"
#include "core/rng.h"
#include "evaluator/gate/infrastructure_failure.h"
#include "evaluator/session/bare_inputs.h"
#include "kernel_templates/task_shape.h"

namespace evo {
namespace {

// All sets of a task of large matrices, drawn at once, would take ten times as much.
constexpr std::size_t kDrawnAhead = std::size_t{2} << 30;

// Where a check does not say how large an output's largest element is, the answer does.
void AllowPeaks(const Task& task, InputSet& set) {
  std::vector<const OutputCheck*> checks;
  for (const Argument& argument : task.arguments) {
    if (argument.role == Role::kOut || argument.role == Role::kInOut) checks.push_back(&argument.check);
  }
  const auto is_measured = [](const OutputCheck* check) {
    return check->kind == OutputCheck::Kind::kDerived && !check->sources.states_peak;
  };
  if (std::none_of(checks.begin(), checks.end(), is_measured)) return;
  const auto largest = set.LargestAnswers();
  if (const auto* failure = std::get_if<Failure>(&largest))
    throw InfrastructureFailure("the reference's answers cannot be inspected: " + failure->message);
  std::vector<Allowance> allowances(checks.size());
  for (std::size_t i = 0; i < checks.size(); ++i) {
    if (is_measured(checks[i])) allowances[i].largest = std::get<std::vector<double>>(largest)[i];
  }
  set.Allow(std::move(allowances));
}

std::string KeyOf(const InputName& inputs) { return fmt::format("{}/{}/{}", inputs.sizes.name, inputs.generator, inputs.seed); }

}  // namespace

void InputCache::Use(const Task& task, const std::string& reference_source, const CompiledProgram& reference,
                     const AttachedData& recorded) {
  const std::string key = task.digest + ImageDigest(reference);
  if (key == key_) return;
  sets_.clear();
  drawn_.clear();
  reference_.reset();
  reference_program_.reset();
  recorded_.clear();
  for (const auto& [name, packed] : recorded.cases) {
    const auto one = FindCase(task, name);
    if (!one) throw Error(fmt::format("task {}: recorded data of a case that it has not: {}", task.name, name));
    recorded_[name] = UnpackRecorded(task, *one, packed);
  }
  task_ = task;
  compiled_reference_ = {reference_source, reference};
  key_ = key;
}

bool InputCache::IsRecorded(const InputName& inputs) const {
  return inputs.generator == ListedGenerators(*task_) && recorded_.contains(inputs.sizes.name);
}

DrawnArguments InputCache::Contents(const InputName& inputs, DrawnArguments memory) const {
  if (IsRecorded(inputs)) return recorded_.at(inputs.sizes.name).inputs;
  return DrawArguments(*task_, inputs.sizes, inputs.generator, inputs.seed, std::move(memory));
}

std::optional<Failure> InputCache::Derive(const Case& sizes, DrawnArguments& contents) {
  const auto is_derived = [](const Argument& argument) { return !argument.derived.empty(); };
  if (std::none_of(task_->arguments.begin(), task_->arguments.end(), is_derived)) return std::nullopt;
  return TaskReference().Derive(*task_, sizes, contents);
}

void InputCache::Draw(const std::vector<InputName>& wanted) {
  std::vector<std::pair<std::string, std::future<DrawnArguments>>> drawing;
  std::size_t bytes = 0;
  for (const InputName& one : wanted) {
    const std::string key = KeyOf(one);
    if (drawn_.contains(key) || sets_.contains(key)) continue;
    bytes += BareInputs::Bytes(*task_, one.sizes);
    if (bytes > kDrawnAhead && !drawing.empty()) break;
    // Each set has a random stream of its own, so that the order does not matter.
    drawing.emplace_back(key, std::async(std::launch::async, [this, &one] { return Contents(one); }));
  }
  for (auto& [key, drawn] : drawing) drawn_[key] = drawn.get();
}

// While it lives, sets leave their memory to those that follow them.
class InputCache::Placing {
 public:
  explicit Placing(InputCache& cache) : cache_(cache) { cache_.placed_.emplace(); }
  ~Placing() { cache_.placed_.reset(); }
  Placing(const Placing&) = delete;
  Placing& operator=(const Placing&) = delete;

 private:
  InputCache& cache_;
};

void InputCache::Place(const std::vector<InputName>& wanted, bool meanwhile) {
  const Placing placing(*this);
  const auto is_missing = [this](const InputName& one) { return !drawn_.contains(KeyOf(one)) && !sets_.contains(KeyOf(one)); };
  std::future<DrawnArguments> drawing;
  auto drawn = wanted.end();  // of these
  for (auto one = wanted.begin(); one != wanted.end(); ++one) {
    if (drawing.valid() && drawn == one) drawn_[KeyOf(*one)] = drawing.get();
    if (meanwhile && !drawing.valid()) {
      drawn = std::find_if(one + 1, wanted.end(), is_missing);
      if (drawn != wanted.end()) {
        drawing = std::async(std::launch::async, [this, next = *drawn, memory = TakePlaced()]() mutable {
          return Contents(next, std::move(memory));
        });
      }
    }
    Get(*one);
  }
}

Reference& InputCache::TaskReference() {
  if (task_->reference_kind == ReferenceKind::kPython) {
    if (python_ != nullptr) return *python_;
    throw InfrastructureFailure(fmt::format("task {}: this worker was started without its Python reference", task_->name));
  }
  if (reference_) return *reference_;
  auto loaded = LoadProgram(device_, compiled_reference_.source, compiled_reference_.program);
  if (const auto* failure = std::get_if<Failure>(&loaded)) {
    throw InfrastructureFailure(fmt::format("the reference of task {} cannot be loaded: {}", task_->name, failure->message));
  }
  Program& program = reference_program_.emplace(std::move(std::get<Program>(loaded)));
  if (task_->reference_kind == ReferenceKind::kBaseline)
    reference_ = std::make_unique<BaselineReference>(program);
  else
    reference_ = std::make_unique<KernelReference>(program);
  return *reference_;
}

InputSet& InputCache::Get(const InputName& inputs, std::size_t copy) {
  const std::string key = KeyOf(inputs) + (copy > 0 ? fmt::format("/{}", copy) : "");
  if (const auto found = sets_.find(key); found != sets_.end()) return *found->second;
  if (copy == 0) {
    std::unique_ptr<InputSet> made = Make(inputs);
    // The first set of a case gets answers as soon as there is a second.
    for (const auto& [name, other] : sets_) other->PoisonWithAnswersOf(*made);
    return *(sets_[key] = std::move(made));
  }
  auto copied = Get(inputs).Copy(Rng(inputs.seed, copy, 0).Next());
  if (const auto* failure = std::get_if<Failure>(&copied)) {
    throw InfrastructureFailure(
        fmt::format("the inputs of task {}, case {}, cannot be copied: {}", task_->name, inputs.sizes.name, failure->message));
  }
  return *(sets_[key] = std::move(std::get<std::unique_ptr<InputSet>>(copied)));
}

DrawnArguments InputCache::TakeContents(const InputName& inputs) {
  auto drawn = drawn_.extract(KeyOf(inputs));
  return drawn.empty() ? Contents(inputs, TakePlaced()) : std::move(drawn.mapped());
}

std::unique_ptr<InputSet> InputCache::MakeUnanswered(const InputName& inputs) {
  DrawnArguments contents = TakeContents(inputs);
  auto underived = Derive(inputs.sizes, contents);
  auto made = underived ? *underived : InputSet::MakeUnanswered(device_, *task_, inputs.sizes, contents, inputs.seed);
  if (const auto* failure = std::get_if<Failure>(&made)) {
    throw InfrastructureFailure(
        fmt::format("the inputs of task {}, case {}, cannot be made: {}", task_->name, inputs.sizes.name, failure->message));
  }
  return std::move(std::get<std::unique_ptr<InputSet>>(made));
}

std::unique_ptr<InputSet> InputCache::Make(const InputName& inputs) {
  DrawnArguments contents = TakeContents(inputs);
  if (!IsRecorded(inputs)) return Make(inputs.sizes, std::move(contents), inputs.seed);
  RecordedReference recorded(recorded_.at(inputs.sizes.name));
  return Make(inputs.sizes, std::move(contents), inputs.seed, recorded);
}

std::unique_ptr<InputSet> InputCache::Make(const Case& sizes, DrawnArguments contents, std::uint64_t seed, Reference& reference) {
  auto underived = Derive(sizes, contents);
  auto made = underived ? *underived : InputSet::Make(device_, *task_, sizes, contents, seed, reference);
  if (const auto* failure = std::get_if<Failure>(&made)) {
    throw InfrastructureFailure(
        fmt::format("the reference of task {} fails on case {}: {}", task_->name, sizes.name, failure->message));
  }
  if (placed_) *placed_ = std::move(contents);
  auto& set = std::get<std::unique_ptr<InputSet>>(made);
  AllowPeaks(*task_, *set);
  for (const auto& [name, other] : sets_) set->PoisonWithAnswersOf(*other);
  return std::move(set);
}

}  // namespace evo
