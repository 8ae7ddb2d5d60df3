#include "evaluator/input_cache.h"

#include <fmt/format.h>

#include "core/digest.h"

namespace evo {

void InputCache::Use(const Task& task, const std::string& reference_source, const CompiledProgram& reference) {
  const std::string key = task.digest + Digest(reference.image);
  if (key == key_) return;
  sets_.clear();
  drawn_.clear();
  reference_.reset();
  task_ = task;
  reference_source_ = reference_source;
  compiled_reference_ = reference;
  key_ = key;
}

std::string InputCache::NameOf(const Case& sizes, int generator, std::uint64_t seed) { return fmt::format("{}/{}/{}", sizes.name, generator, seed); }

void InputCache::Draw(const Case& sizes, int generator, std::uint64_t seed) {
  const std::string name = NameOf(sizes, generator, seed);
  if (!drawn_.contains(name) && !sets_.contains(name)) drawn_[name] = DrawArguments(*task_, sizes, generator, seed);
}

Program& InputCache::Reference() {
  if (reference_) return *reference_;
  auto loaded = LoadProgram(device_, reference_source_, compiled_reference_);
  if (const auto* failure = std::get_if<Failure>(&loaded)) {
    throw InfrastructureFailure{fmt::format("the reference of task {} cannot be loaded: {}", task_->name, failure->message)};
  }
  return reference_.emplace(std::move(std::get<Program>(loaded)));
}

InputSet& InputCache::Get(const Case& sizes, int generator, std::uint64_t seed) {
  const std::string name = NameOf(sizes, generator, seed);
  if (const auto found = sets_.find(name); found != sets_.end()) return *found->second;
  Draw(sizes, generator, seed);
  auto made = InputSet::Make(device_, *task_, sizes, drawn_.at(name), seed, Reference());
  drawn_.erase(name);
  if (const auto* failure = std::get_if<Failure>(&made)) {
    throw InfrastructureFailure{fmt::format("the reference of task {} fails on case {}: {}", task_->name, sizes.name, failure->message)};
  }
  return *(sets_[name] = std::move(std::get<std::unique_ptr<InputSet>>(made)));
}

}  // namespace evo
