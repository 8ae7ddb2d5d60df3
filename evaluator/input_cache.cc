#include "evaluator/input_cache.h"

#include <fmt/format.h>

#include "core/digest.h"

namespace evo {

void InputCache::Use(const Task& task, const std::string& reference_source, const CompiledProgram& reference) {
  const std::string key = task.digest + Digest(reference.image);
  if (key == key_) return;
  sets_.clear();
  reference_.reset();
  task_ = task;
  auto loaded = LoadProgram(device_, reference_source, reference);
  if (const auto* failure = std::get_if<Failure>(&loaded)) {
    throw InfrastructureFailure{fmt::format("the reference of task {} cannot be loaded: {}", task.name, failure->message)};
  }
  reference_ = std::move(std::get<Program>(loaded));
  key_ = key;
}

InputSet& InputCache::Get(const Case& sizes, int generator, std::uint64_t seed) {
  auto& slot = sets_[fmt::format("{}/{}/{}", sizes.name, generator, seed)];
  if (!slot) {
    auto made = InputSet::Make(device_, *task_, sizes, generator, seed, *reference_);
    if (const auto* failure = std::get_if<Failure>(&made)) {
      throw InfrastructureFailure{fmt::format("the reference of task {} fails on case {}: {}", task_->name, sizes.name, failure->message)};
    }
    slot = std::move(std::get<std::unique_ptr<InputSet>>(made));
  }
  return *slot;
}

}  // namespace evo
