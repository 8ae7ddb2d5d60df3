#include "evaluator/gate/input_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <future>

#include "core/digest.h"
#include "core/rng.h"
#include "evaluator/gate/input_generator.h"

namespace evo {
DrawnArguments DrawSideBySide(const std::vector<std::optional<std::int64_t>>& elements,
                              const std::function<std::vector<std::byte>(std::size_t)>& draw) {
  // Drawing that many takes longer than starting a thread.
  constexpr std::int64_t kMany = 1 << 16;
  std::vector<std::future<std::vector<std::byte>>> drawing(elements.size());
  for (std::size_t i = 0; i < elements.size(); ++i) {
    if (elements[i] > kMany) drawing[i] = std::async(std::launch::async | std::launch::deferred, draw, i);
  }
  DrawnArguments drawn(elements.size());
  for (std::size_t i = 0; i < elements.size(); ++i) {
    if (elements[i] && !drawing[i].valid()) drawn[i] = draw(i);
  }
  for (std::size_t i = 0; i < elements.size(); ++i) {
    if (drawing[i].valid()) drawn[i] = drawing[i].get();
  }
  return drawn;
}

DrawnArguments DrawArguments(const Task& task, const Case& sizes, int generator, std::uint64_t seed, DrawnArguments memory) {
  const Variables variables = CaseVariables(task, sizes);
  // Each case and generator has a random stream of its own. From one stream they would draw the same numbers, scaled, and an
  // answer to one would answer others.
  const std::uint64_t stream = seed ^ std::stoull(Digest(sizes.name).substr(0, 16), nullptr, 16);
  memory.resize(task.arguments.size());
  const auto draw = [&](std::size_t i) {
    const Argument& argument = task.arguments[i];
    const Generator& chosen = argument.generators[static_cast<std::size_t>(generator) % argument.generators.size()];
    const std::int64_t row = argument.shape.back().EvaluateInteger(variables);
    return GenerateInput(chosen, argument.dtype, ElementCount(argument, variables), row, variables,
                         Rng(stream, i + 1, static_cast<std::uint64_t>(generator)).Next(), std::move(memory[i]));
  };
  std::vector<std::optional<std::int64_t>> elements(task.arguments.size());
  for (std::size_t i = 0; i < elements.size(); ++i) {
    if (task.arguments[i].IsDrawn()) elements[i] = ElementCount(task.arguments[i], variables);
  }
  return DrawSideBySide(elements, draw);
}

std::variant<std::unique_ptr<InputSet>, Failure> InputSet::MakeUnanswered(Device& device, const Task& task, const Case& sizes,
                                                                          const DrawnArguments& drawn, std::uint64_t seed) {
  std::unique_ptr<InputSet> set(new InputSet(device, task, sizes, seed));
  if (DeviceStatus status = set->Place(drawn, seed); !status.ok()) return ToFailure(status);
  return set;
}

std::variant<std::unique_ptr<InputSet>, Failure> InputSet::Make(Device& device, const Task& task, const Case& sizes,
                                                                const DrawnArguments& drawn, std::uint64_t seed,
                                                                Reference& reference) {
  auto made = MakeUnanswered(device, task, sizes, drawn, seed);
  if (auto* set = std::get_if<std::unique_ptr<InputSet>>(&made)) {
    if (auto failure = (*set)->RunReference(reference)) return *failure;
  }
  return made;
}

std::variant<std::unique_ptr<InputSet>, Failure> InputSet::Copy(std::uint64_t guard_seed) const {
  std::unique_ptr<InputSet> set(new InputSet(device_, task_, sizes_, guard_seed));
  set->number_ = number_;
  if (DeviceStatus status = set->bound_.Allocate(set->task_, set->variables_, guard_seed, true); !status.ok())
    return ToFailure(status);
  for (std::size_t i = 0; i < bound_.size(); ++i) {
    const GuardedBuffer& original = bound_[i].buffer;
    BoundArgument& copy = set->bound_[i];
    if (DeviceStatus status = copy.buffer.Reset(nullptr); !status.ok()) return ToFailure(status);
    copy.reference = bound_[i].reference;
    if (!copy.argument->IsInput()) continue;
    for (const Address to : {copy.buffer.address(), copy.buffer.copied_contents()}) {
      if (DeviceStatus status = device_.memory().Copy({to, original.copied_contents(), original.bytes()}); !status.ok())
        return ToFailure(status);
    }
  }
  if (DeviceStatus status = set->ProtectCopies(nullptr); !status.ok()) return ToFailure(status);
  set->protected_.copies.insert(set->protected_.copies.end(), protected_.copies.begin(), protected_.copies.end());
  set->protected_.answers = protected_.answers;
  set->other_answers_ = other_answers_;
  set->allowances_ = allowances_;
  return set;
}

// The reference reads the copies of the inputs and writes into buffers whose addresses no candidate gets.
std::optional<Failure> InputSet::RunReference(Reference& reference) {
  if (auto failure = ProtectedMemory::Check(device_, protected_.copies)) return failure;
  if (DeviceStatus status = FillReferences(); !status.ok()) return ToFailure(status);
  std::vector<Reference::Place> places;
  for (const BoundArgument& bound : bound_) {
    Reference::Place& place = places.emplace_back();
    place.argument = bound.argument;
    if (bound.argument->IsInput()) place.contents = {bound.buffer.copied_contents(), bound.buffer.bytes()};
    if (bound.reference) place.answer = {bound.reference->address(), bound.reference->bytes()};
  }
  if (auto failure = reference.Compute(device_, task_, sizes_, places)) return failure;
  return ProtectAnswers();
}

// One look at the device: the copies must be as they were, the reference must have stayed within its outputs, and what it has
// written there is the answer.
std::optional<Failure> InputSet::ProtectAnswers() {
  std::vector<Inspection> inspections;
  for (const auto& copies : protected_.copies)
    inspections.insert(inspections.end(), copies->inspections().begin(), copies->inspections().end());
  auto answers = std::make_shared<ProtectedMemory>();
  for (const BoundArgument& bound : bound_) {
    if (!bound.reference) continue;
    answers->Add({Inspection::Kind::kHash, bound.reference->address(), 0, bound.reference->bytes()});
    std::vector<Inspection> guards;
    bound.reference->AppendInspections(guards, false);
    for (const Inspection& guard : guards) answers->Add(guard);
  }
  inspections.insert(inspections.end(), answers->inspections().begin(), answers->inspections().end());
  const Inspected seen = device_.Inspect(inspections);
  if (!seen.status.ok()) return ToFailure(seen.status);
  std::span<const InspectionResult> left(seen.results);
  for (const auto& copies : protected_.copies) {
    if (!copies->Holds(left)) return Failure{Outcome::kCheating, "the reference changes its input"};
    left = left.subspan(copies->inspections().size());
  }
  for (const InspectionResult& one : left) {
    if (one.different > 0) return Failure{Outcome::kCheating, "the reference writes outside its output"};
  }
  answers->TakeHashes(left);
  protected_.answers = std::move(answers);
  return std::nullopt;
}

void InputSet::HideAnswer(Preparation& preparation) {
  protected_.answers = nullptr;
  for (const BoundArgument& bound : bound_) {
    if (bound.reference) preparation.poison.push_back({bound.reference->address(), bound.reference->bytes(), {}});
  }
}

void InputSet::DropAnswer() {
  protected_.answers = nullptr;
  for (BoundArgument& bound : bound_) bound.reference = nullptr;
}

std::vector<std::shared_ptr<const ProtectedMemory>> InputSet::Protected() const {
  auto all = protected_.copies;
  if (protected_.answers) all.push_back(protected_.answers);
  return all;
}

void InputSet::PoisonWithAnswersOf(const InputSet& other) {
  if (other.sizes_.name != sizes_.name || other.number_ == number_ || other.bound_.size() != bound_.size()) return;
  other_answers_.clear();
  for (const BoundArgument& bound : other.bound_) other_answers_.push_back(bound.reference);
}

BufferPlace InputSet::PlaceOf(const std::string& name) const {
  const auto found = std::find_if(bound_.begin(), bound_.end(), [&](const BoundArgument& b) { return b.argument->name == name; });
  if (found == bound_.end()) return {};
  return {found->buffer.address(), found->buffer.bytes()};
}

Preparation InputSet::Prepare(const Poison& poison) {
  bound_.Restore();
  Preparation preparation;
  preparation.scrubbed = PatternOf(poison.scrubbed, Dtype::kF32, MixWord(poison.seed, 0));
  for (std::size_t i = 0; i < bound_.size(); ++i) {
    BoundArgument& bound = bound_[i];
    const Dtype dtype = bound.argument->dtype;
    const std::size_t bytes = bound.buffer.bytes();
    if (bound.argument->role == Role::kOut) {
      const bool answered = poison.outputs == PoisonKind::kOtherAnswer && i < other_answers_.size();
      const DevicePattern pattern = PatternOf(poison.outputs, dtype, MixWord(poison.seed, i + 1));
      bound.before = answered ? std::nullopt : std::optional(pattern);
      preparation.poison.push_back({bound.buffer.address(), bytes, pattern, answered ? other_answers_[i]->address() : 0, dtype});
    } else if (bound.argument->role == Role::kInOut || renewed_) {
      preparation.restore.push_back({bound.buffer.address(), bound.buffer.copied_contents(), bytes});
    }
  }
  renewed_ = false;
  return preparation;
}

std::vector<DeviceTouch> InputSet::Touches() const {
  std::vector<DeviceTouch> touches;
  for (const BoundArgument& bound : bound_) {
    if (bound.argument->IsInput()) touches.push_back({bound.buffer.address(), bound.buffer.bytes()});
  }
  return touches;
}

std::size_t InputSet::Footprint() const {
  std::size_t bytes = 0;
  for (const BoundArgument& bound : bound_) bytes += bound.buffer.bytes();
  return bytes;
}

std::vector<InputSet::View> InputSet::Views() const {
  std::vector<View> views;
  for (const BoundArgument& bound : bound_) {
    views.push_back({bound.argument,
                     {bound.buffer.address(), bound.buffer.bytes()},
                     bound.reference ? bound.reference->address() : 0,
                     bound.argument->IsInput() ? bound.buffer.copied_contents() : 0});
  }
  return views;
}

std::vector<Dtype> InputSet::OutputDtypes() const {
  std::vector<Dtype> dtypes;
  for (const BoundArgument& bound : bound_) {
    if (bound.reference) dtypes.push_back(bound.argument->dtype);
  }
  return dtypes;
}

std::vector<OutputCheck> InputSet::Checks() const {
  std::vector<OutputCheck> checks;
  for (const BoundArgument& bound : bound_) {
    if (bound.reference) checks.push_back(CheckFor(*bound.argument, variables_));
  }
  return checks;
}

std::size_t InputSet::CountedOf(const BoundArgument& bound) const {
  return static_cast<std::size_t>(CountedElements(*bound.argument, variables_));
}

std::vector<std::vector<double>> InputSet::References() const {
  std::vector<std::vector<double>> references;
  for (const BoundArgument& bound : bound_) {
    if (!bound.reference) continue;
    std::vector<double>& values = references.emplace_back(CountedOf(bound));
    device_.memory().Read(std::as_writable_bytes(std::span(values)), bound.reference->address());
  }
  return references;
}

// Zeros are off by just the answer.
std::variant<std::vector<double>, Failure> InputSet::LargestAnswers() {
  std::vector<Inspection> inspections;
  for (const BoundArgument& bound : bound_) {
    if (!bound.reference) continue;
    const BufferPlace output{bound.buffer.address(), CountedOf(bound) * ByteSize(bound.argument->dtype)};
    if (DeviceStatus status = device_.memory().Fill({output.address, output.bytes, 0}); !status.ok()) return ToFailure(status);
    inspections.push_back(
        {Inspection::Kind::kOutput, output.address, bound.reference->address(), output.bytes, bound.argument->dtype, false});
  }
  const Inspected seen = device_.Inspect(inspections);
  if (!seen.status.ok()) return ToFailure(seen.status);
  std::vector<double> largest;
  for (const InspectionResult& one : seen.results) largest.push_back(one.largest);
  return largest;
}

void InputSet::JudgeOutputs(std::span<const InspectionResult> results, Answer& answer) const {
  answer.difference.acceptable = true;
  for (const BoundArgument& bound : bound_) {
    if (!bound.reference) continue;
    const Argument& argument = *bound.argument;
    const std::uint64_t elements = CountedOf(bound);
    const std::size_t output = answer.outputs.size();
    const Allowance allowance = output < allowances_.size() ? allowances_[output] : Allowance{};
    const Difference one = Judge(results[0], elements, CheckFor(argument, variables_), allowance, argument.name,
                                 [&](std::uint64_t i) { return ElementAt(bound, i); });
    answer.outputs.push_back(one);
    answer.difference.ratio = std::max(answer.difference.ratio, one.ratio);
    // std::max would lose an error that is not a number.
    if (!(one.l2 <= answer.difference.l2)) answer.difference.l2 = one.l2;
    if (!(one.max <= answer.difference.max)) answer.difference.max = one.max;
    if (!one.acceptable && answer.difference.acceptable) {
      answer.difference.acceptable = false;
      answer.difference.message = one.message;
    }
    answer.hashes.push_back(results[1].hash);
    results = results.subspan(2);
  }
}

InputSet::Look InputSet::WhatToInspect(const LaunchBinding* binding, std::span<const Inspection> state) const {
  Look look{};
  for (const BoundArgument& bound : bound_) {
    if (!bound.reference) continue;
    const bool exact = bound.argument->check.kind == OutputCheck::Kind::kExact;
    const std::uint64_t bytes = CountedOf(bound) * ByteSize(bound.argument->dtype);
    look.inspections.push_back(
        {Inspection::Kind::kOutput, bound.buffer.address(), bound.reference->address(), bytes, bound.argument->dtype, exact});
    look.inspections.push_back({Inspection::Kind::kHash, bound.buffer.address(), 0, bytes, Dtype::kU8, false});
  }
  look.outputs = look.inspections.size();
  look.unchanged = look.outputs + bound_.AppendInspections(look.inspections);
  if (binding != nullptr) binding->AppendInspections(look.inspections);
  look.own = look.inspections.size();
  look.inspections.insert(look.inspections.end(), state.begin(), state.end());
  return look;
}

InputSet::Answer InputSet::Inspect(const LaunchBinding* binding, std::span<const Inspection> state) {
  const Look look = WhatToInspect(binding, state);
  return AnswerOf(binding, look, device_.Inspect(look.inspections));
}

InputSet::Answer InputSet::AnswerOf(const LaunchBinding* binding, const Look& look, const Inspected& inspected) {
  Answer answer;
  answer.status = inspected.status;
  if (!answer.status.ok()) return answer;
  const std::span<const InspectionResult> results(inspected.results);
  JudgeOutputs(results, answer);
  for (std::size_t i = look.outputs; i < look.unchanged; ++i) {
    const std::string changed = bound_.WhatChanged(look.inspections[i], results[i]);
    if (answer.violation.empty()) answer.violation = changed;
  }
  if (binding != nullptr && answer.violation.empty()) {
    const std::string place = binding->Overwritten(results.subspan(look.unchanged, look.own - look.unchanged));
    if (!place.empty()) answer.violation = "wrote " + place;
  }
  for (std::size_t i = look.own; i < results.size(); ++i)
    answer.state.push_back(look.inspections[i].kind == Inspection::Kind::kEqual ? results[i].different : results[i].hash);
  return answer;
}

ElementSeen InputSet::ElementAt(const BoundArgument& bound, std::uint64_t index) const {
  const std::size_t size = ByteSize(bound.argument->dtype);
  std::vector<std::byte> value(size);
  double wanted = 0;
  device_.memory().Read(value, bound.buffer.address() + index * size);
  device_.memory().Read(std::as_writable_bytes(std::span(&wanted, 1)), bound.reference->address() + index * sizeof(double));
  return {ToDoubles(value, bound.argument->dtype).front(), wanted,
          bound.before && value == BytesOf(*bound.before, index * size, size)};
}

}  // namespace evo
