#include "cli/operator_choice.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "kernel_templates/kernel_template.h"
#include "mutators/genetic/crossover.h"
#include "mutators/mutator_set.h"

namespace evo {
namespace {

bool Means(const std::string& word, const Mutator& mutator) {
  if (word == "edits") return mutator.reads_source();
  if (word == "parameters") return !mutator.reads_source() && mutator.name() != kCrossover;
  return word == mutator.name();
}

bool MeansAny(const std::vector<std::string>& words, const Mutator& mutator) {
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) { return Means(word, mutator); });
}

void Check(const char* option, const std::vector<std::string>& words, const MutatorSet& mutators) {
  for (const std::string& word : words) {
    const auto& all = mutators.all();
    if (std::any_of(all.begin(), all.end(), [&](const auto& mutator) { return Means(word, *mutator); })) continue;
    throw UsageError(fmt::format("{} {}: there is no such mutator; give names that `evo mutators` lists, `parameters` or `edits`",
                                 option, word));
  }
}

}  // namespace

std::map<std::string, double> ChooseOperators(const std::vector<std::string>& only, const std::vector<std::string>& without,
                                              bool proven_only) {
  const MutatorSet mutators;
  Check("--only-mutators", only, mutators);
  Check("--without-mutators", without, mutators);
  std::map<std::string, double> operators;
  for (const auto& mutator : mutators.all()) {
    if ((!only.empty() && !MeansAny(only, *mutator)) || MeansAny(without, *mutator)) continue;
    const bool named = std::find(only.begin(), only.end(), mutator->name()) != only.end();
    if (proven_only && mutator->promise() == Promise::kUnproven) {
      if (!named) continue;
      throw UsageError(fmt::format(
          "--proven-only: {} promises nothing; leave it out of --only-mutators, or leave out --proven-only", mutator->name()));
    }
    operators[std::string(mutator->name())] = named ? mutator->weight() : DefaultWeight(*mutator);
  }
  if (std::none_of(operators.begin(), operators.end(), [](const auto& entry) { return entry.second > 0; })) {
    throw UsageError("--only-mutators, --without-mutators and --proven-only leave no mutator to draw; leave one of them out");
  }
  return operators;
}

void LeaveOutForeign(std::map<std::string, double>& operators, const std::string& arch) {
  const MutatorSet mutators;
  std::string left_out;
  std::erase_if(operators, [&](const auto& entry) {
    const Mutator* mutator = mutators.Find(entry.first);
    if (mutator == nullptr || CompilesFor(std::string(mutator->required_arch()), arch)) return false;
    left_out = fmt::format("{} needs {}", entry.first, mutator->required_arch());
    return true;
  });
  if (left_out.empty() || std::any_of(operators.begin(), operators.end(), [](const auto& entry) { return entry.second > 0; }))
    return;
  throw UsageError(
      fmt::format("--only-mutators: {}, and kernels are compiled for {}; name another mutator, too", left_out, arch));
}

bool SetOnlyParameters(const std::map<std::string, double>& operators) {
  const MutatorSet mutators;
  return std::all_of(operators.begin(), operators.end(), [&](const auto& entry) {
    const Mutator* mutator = mutators.Find(entry.first);
    return mutator != nullptr && !mutator->reads_source();
  });
}

}  // namespace evo
