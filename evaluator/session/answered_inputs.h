#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "evaluator/gate/input_set.h"
#include "evaluator/session/input_cache.h"

namespace evo {

// Makes input sets with the reference's answers, and tells what the reference answers to changed inputs. Methods throw
// InfrastructureFailure where the reference fails.
class AnsweredInputs {
 public:
  // All must outlive the object.
  AnsweredInputs(Device& device, InputCache& cache, const Task& task) : device_(device), cache_(cache), task_(task) {}

  // Makes the derived arguments of these contents; why there are none.
  std::optional<std::string> Derive(const Case& sizes, DrawnArguments& drawn) const;
  // A set, or why there can be none: it does not fit into memory, or the reference has no answer.
  std::variant<std::unique_ptr<InputSet>, std::string> Make(const Case& sizes, const DrawnArguments& drawn, std::uint64_t seed);
  // A set without an answer; null where it does not fit into memory.
  std::unique_ptr<InputSet> MakeUnanswered(const Case& sizes, const DrawnArguments& drawn, std::uint64_t seed);
  // A set with these contents, derived ones made again, and the reference's answer, until the next call; null where there can be
  // none.
  InputSet* Scratch(const Case& sizes, DrawnArguments drawn, std::uint64_t seed);
  // The same with the answer of another reference.
  InputSet* Scratch(const Case& sizes, DrawnArguments drawn, std::uint64_t seed, Reference& reference);
  // The reference's answers, one for each output; empty where there are none.
  std::vector<std::vector<double>> AnswersTo(const Case& sizes, DrawnArguments drawn, std::uint64_t seed);
  // The same to the absolute values of all real inputs.
  std::vector<std::vector<double>> AnswersToMagnitudes(const Case& sizes, const DrawnArguments& drawn, std::uint64_t seed);

 private:
  using Made = std::variant<std::unique_ptr<InputSet>, std::string>;
  Made Checked(std::variant<std::unique_ptr<InputSet>, Failure> made, const Case& sizes) const;

  Device& device_;
  InputCache& cache_;
  const Task& task_;
  std::unique_ptr<InputSet> scratch_;  // of the case that was asked for last
};

}  // namespace evo
