#include "evaluator/session/input_cache.h"

#include <fmt/format.h>

#include <future>

#include "core/digest.h"
#include "core/rng.h"

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

std::string InputCache::NameOf(const Case& sizes, int generator, std::uint64_t seed) {
  return fmt::format("{}/{}/{}", sizes.name, generator, seed);
}

void InputCache::Draw(const std::vector<Wanted>& wanted) {
  std::vector<std::pair<std::string, std::future<DrawnArguments>>> drawing;
  for (const Wanted& one : wanted) {
    const std::string name = NameOf(one.sizes, one.generator, one.seed);
    if (drawn_.contains(name) || sets_.contains(name)) continue;
    // Each has a stream of its own, so that the order does not matter.
    drawing.emplace_back(
        name, std::async(std::launch::async, [this, &one] { return DrawArguments(*task_, one.sizes, one.generator, one.seed); }));
  }
  for (auto& [name, drawn] : drawing) drawn_[name] = drawn.get();
}

Program& InputCache::Reference() {
  if (reference_) return *reference_;
  auto loaded = LoadProgram(device_, reference_source_, compiled_reference_);
  if (const auto* failure = std::get_if<Failure>(&loaded)) {
    throw InfrastructureFailure{fmt::format("the reference of task {} cannot be loaded: {}", task_->name, failure->message)};
  }
  return reference_.emplace(std::move(std::get<Program>(loaded)));
}

InputSet& InputCache::Get(const Case& sizes, int generator, std::uint64_t seed, std::size_t place) {
  const std::string name = NameOf(sizes, generator, seed) + (place > 0 ? fmt::format("/{}", place) : "");
  if (const auto found = sets_.find(name); found != sets_.end()) return *found->second;
  if (place == 0) return *(sets_[name] = Make(sizes, generator, seed));
  auto copied = Get(sizes, generator, seed).Copy(Rng(seed, place, 0).Next());
  if (const auto* failure = std::get_if<Failure>(&copied)) {
    throw InfrastructureFailure{
        fmt::format("the inputs of task {}, case {}, cannot be copied: {}", task_->name, sizes.name, failure->message)};
  }
  return *(sets_[name] = std::move(std::get<std::unique_ptr<InputSet>>(copied)));
}

std::unique_ptr<InputSet> InputCache::Make(const Case& sizes, int generator, std::uint64_t seed) {
  const auto drawn = drawn_.extract(NameOf(sizes, generator, seed));
  auto made = InputSet::Make(device_, *task_, sizes,
                             drawn.empty() ? DrawArguments(*task_, sizes, generator, seed) : drawn.mapped(), seed, Reference());
  if (const auto* failure = std::get_if<Failure>(&made)) {
    throw InfrastructureFailure{
        fmt::format("the reference of task {} fails on case {}: {}", task_->name, sizes.name, failure->message)};
  }
  return std::move(std::get<std::unique_ptr<InputSet>>(made));
}

}  // namespace evo
