#include "evaluator/session/legal_inputs.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "evaluator/session/shape_probes.h"

namespace evo {
LegalInputs::LegalInputs(Device& device, InputCache& cache, const Task& task, AttachedProgram baseline)
    : device_(device),
      cache_(cache),
      task_(task),
      inputs_(device, cache, task_),
      baseline_(device, task_, std::move(baseline)),
      bounds_(task_, inputs_, baseline_) {}

// Two runs of one program may differ by rounding here; the checks of every candidate hold it to the same bits.
std::variant<InputSet::Answer, Failure> LegalInputs::RunBeforeReference(const BoundProgram& bound) {
  return Gate(device_, Determinism::kTolerance).Try(bound, &cache_.TaskReference());
}

LegalInputs::Made LegalInputs::Make(const Case& sizes, const InputProgram& program) {
  const auto left_out = [&](std::string reason) { return LeftOut{ToText(program), std::move(reason)}; };
  if (!enabled()) return left_out("there is no baseline");
  const Counterexample on{sizes.name, 0, program.seed, ToText(program)};
  if (auto reason = runs_.Avoided(on)) return left_out(*reason);
  DrawnArguments drawn = DrawArguments(task_, sizes, program);
  if (auto reason = inputs_.Derive(sizes, drawn)) return left_out(*reason);
  if (auto reason = bounds_.OutsideDomain(sizes, drawn)) return left_out(*reason);
  const BaselineRuns::Running running(runs_, on);
  auto made = inputs_.Make(sizes, drawn, program.seed);
  if (const auto* why = std::get_if<std::string>(&made)) return left_out(*why);
  auto& set = std::get<std::unique_ptr<InputSet>>(made);
  if (auto reason = bounds_.Set(*set, drawn, program)) return left_out(*reason);
  return std::move(set);
}

LegalInputs::Made LegalInputs::MakeOfSizes(const Case& sizes, std::uint64_t seed) {
  const auto left_out = [&](std::string reason) { return LeftOut{sizes.name, std::move(reason)}; };
  if (!enabled()) return left_out("there is no baseline");
  if (auto reason = bounds_.OutsideDomain(sizes, {})) return left_out(*reason);
  const Counterexample on{sizes.name, 0, seed, ""};
  if (auto reason = runs_.Avoided(on)) return left_out(*reason);
  BaselineRuns::Running running(runs_, on, LargerThanListed(task_, sizes));
  DrawnArguments drawn = DrawArgumentsOfSizes(task_, sizes, seed);
  if (auto reason = inputs_.Derive(sizes, drawn)) return left_out(*reason);
  auto made = inputs_.Make(sizes, drawn, seed);
  if (const auto* why = std::get_if<std::string>(&made)) return left_out(*why);
  auto& set = std::get<std::unique_ptr<InputSet>>(made);
  const auto start = std::chrono::steady_clock::now();
  const auto ran = baseline_.Run(*set);
  running.Took(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
  if (const auto* failure = std::get_if<Failure>(&ran)) return left_out(fmt::format("the baseline fails: {}", failure->message));
  const Difference& difference = std::get<InputSet::Answer>(ran).difference;
  if (!difference.acceptable) return left_out(fmt::format("the baseline is wrong: {}", difference.message));
  return std::move(set);
}

const LegalInputs::Legal& LegalInputs::Get(const Case& sizes, const InputProgram& program) {
  const std::string key = fmt::format("{}/{}/{}", sizes.name, ToText(program), program.seed);
  const auto [found, is_new] = entries_.try_emplace(key);
  return is_new ? Keep(found->second, Make(sizes, program)) : found->second.legal;
}

const LegalInputs::Legal& LegalInputs::GetOfSizes(const Case& sizes, std::uint64_t seed) {
  const auto [found, is_new] = entries_.try_emplace(fmt::format("{}//{}", sizes.name, seed));
  return is_new ? Keep(found->second, MakeOfSizes(sizes, seed)) : found->second.legal;
}

const LegalInputs::Legal& LegalInputs::Keep(Entry& entry, Made made) {
  if (auto* set = std::get_if<std::unique_ptr<InputSet>>(&made)) {
    entry.set = std::move(*set);
    entry.legal = entry.set.get();
  } else {
    entry.legal = std::get<LeftOut>(std::move(made));
  }
  return entry.legal;
}

}  // namespace evo
