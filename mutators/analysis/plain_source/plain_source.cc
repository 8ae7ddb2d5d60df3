#include "mutators/analysis/plain_source/plain_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "kernel_templates/brought_parameters.h"
#include "mutators/analysis/plain_source/array_parameters.h"
#include "mutators/analysis/plain_source/free_blocks.h"
#include "mutators/analysis/plain_source/plain_translation.h"
#include "mutators/analysis/plain_source/register_sums.h"
#include "mutators/analysis/plain_source/single_counters.h"
#include "mutators/analysis/plain_source/size_parameters.h"
#include "mutators/analysis/plain_source/struct_parameters.h"
#include "mutators/analysis/plain_source/thread_loops.h"
#include "mutators/analysis/plain_source/vector_parameters.h"

namespace evo {
namespace {

// The launches and so on of a text, read once for all mutators.
const KernelTemplate& TemplateOf(const MutationContext& context, const SyntaxTree& tree) {
  return tree.Kept<KernelTemplate>("template", [&] { return ParseTemplate(context.rendered.name, tree.text()); });
}

// Sources that are written out further, parsed once for all mutators; null if nothing is left to do.
using Parsed = std::shared_ptr<const SyntaxTree>;

struct WithFreeBlocks {
  Parsed tree;
  std::set<std::string> kernels;
};
const WithFreeBlocks& WithFreeBlocksIn(const SyntaxTree& plain) {
  return plain.Kept<WithFreeBlocks>("free blocks", [&] {
    WithFreeBlocks without;
    if (const auto text = WithoutLaunchBounds(plain, without.kernels)) without.tree = plain.Reparsed(*text);
    return without;
  });
}

struct WithoutFields {
  Parsed tree;
  FieldDeclarations fields;
};
const WithoutFields& WithoutStructsIn(const MutationContext& plain) {
  return plain.tree.Kept<WithoutFields>("without structs", [&] {
    WithoutFields without;
    if (const auto text = WithoutStructs(plain, without.fields)) without.tree = plain.tree.Reparsed(*text);
    return without;
  });
}

const WithoutFields& WithoutVectorsIn(const SyntaxTree& plain) {
  return plain.Kept<WithoutFields>("without vectors", [&] {
    WithoutFields without;
    if (const auto text = WithoutVectorParameters(plain, without.fields)) without.tree = plain.Reparsed(*text);
    return without;
  });
}

const WithoutFields& WithoutArraysIn(const SyntaxTree& plain) {
  return plain.Kept<WithoutFields>("without arrays", [&] {
    WithoutFields without;
    if (const auto text = WithoutArrayParameters(plain, without.fields)) without.tree = plain.Reparsed(*text);
    return without;
  });
}

const WithoutFields& WithSizesIn(const MutationContext& plain) {
  return plain.tree.Kept<WithoutFields>("with sizes", [&] {
    WithoutFields with;
    if (const auto text = WithSizesAsParameters(plain, with.fields)) with.tree = plain.tree.Reparsed(*text);
    return with;
  });
}

// A reason with the source's macros in the place of the parameters that stand for them.
std::string WithSizesOfSource(std::string refusal, const ParameterDifferences& differences) {
  for (const auto& [kernel, declared] : differences.fields) {
    for (const auto& [name, declaration] : declared) {
      const std::string begin = fmt::format("const int {} = ", name);
      if (!declaration.starts_with(begin) || !declaration.ends_with(";")) continue;
      refusal = WithOtherName(refusal, name, declaration.substr(begin.size(), declaration.size() - begin.size() - 1));
    }
  }
  return refusal;
}

const Parsed& WithSingleCountersIn(const SyntaxTree& plain) {
  return plain.Kept<Parsed>("with single counters", [&]() -> Parsed {
    const auto text = WithSingleCounters(plain);
    return text ? plain.Reparsed(*text) : nullptr;
  });
}

// Sums of several elements that one statement adds to take several rounds.
const Parsed& WithSumsInRegisters(const MutationContext& plain) {
  return plain.tree.Kept<Parsed>("with register sums", [&]() -> Parsed {
    constexpr int kMostRounds = 4;
    Parsed with;
    for (int round = 0; round < kMostRounds; ++round) {
      const SyntaxTree& tree = with ? *with : plain.tree;
      const MutationContext context{plain.kernel_template,   plain.genome,        tree,
                                    TemplateOf(plain, tree), plain.second_parent, plain.product_elsewhere};
      const auto text = WithRegisterSums(context);
      Parsed next = text ? tree.Reparsed(*text) : nullptr;
      if (!next) break;
      with = std::move(next);
    }
    return with;
  });
}

const Parsed& WithoutLoops(const MutationContext& plain, ThreadLoops loops) {
  return plain.tree.Kept<Parsed>(fmt::format("without loops {}", static_cast<int>(loops)), [&]() -> Parsed {
    const auto text = WithoutThreadLoops(plain, loops);
    return text ? plain.tree.Reparsed(*text) : nullptr;
  });
}

// Runs on numbers take time, and several mutators ask for them.
struct Restated {
  Parsed tree;
  std::vector<std::string> reasons;
};
const Restated& RestatedIn(const MutationContext& plain, const Restate& restate) {
  using Function = std::optional<std::string> (*)(const MutationContext&, const std::function<void(const std::string&)>&);
  const auto* const function = restate.target<Function>();
  const std::string key = fmt::format("restated {}", function == nullptr ? 0 : reinterpret_cast<std::uintptr_t>(*function));
  return plain.tree.Kept<Restated>(key, [&] {
    Restated restated;
    const auto text = restate(plain, [&](const std::string& why) { restated.reasons.push_back(why); });
    if (text) restated.tree = plain.tree.Reparsed(*text);
    return restated;
  });
}

// Whether a source is written for the tensor cores or in assembly: no mutator that rewrites whole kernels would find it plain,
// and it takes long to write out.
bool IsWrittenByHand(const std::string& text) {
  return text.find("asm volatile") != std::string::npos || text.find("asm(") != std::string::npos ||
         text.find("wmma::") != std::string::npos;
}

// The contexts of a source written out more and more, until `look` returns true. It also gets how parameters differ.
template <typename Look>
void WithPlainContexts(const MutationContext& context, ThreadLoops loops, const Restate& restate,
                       std::vector<std::string>& reasons, Look look) {
  if (IsWrittenByHand(context.tree.text())) return;
  const auto context_of = [&](const SyntaxTree& tree) {
    return MutationContext{context.kernel_template,   context.genome,        tree,
                           TemplateOf(context, tree), context.second_parent, context.product_elsewhere};
  };
  ParameterDifferences differences;
  const SyntaxTree* last = &context.tree;
  const auto look_at = [&](const SyntaxTree& tree) {
    last = &tree;
    return look(context_of(tree), differences);
  };
  for (const SyntaxTree* tree = context.tree.plain(); tree != nullptr; tree = tree->plain()) {
    if (look_at(*tree)) return;
  }
  if (const WithFreeBlocks& without = WithFreeBlocksIn(*last); without.tree) {
    differences.free_blocks = without.kernels;
    if (look_at(*without.tree)) return;
  }
  if (const WithoutFields& without = WithoutVectorsIn(*last); without.tree) {
    differences.fields = without.fields;
    if (look_at(*without.tree)) return;
  }
  const auto look_with = [&](const WithoutFields& without) {
    if (!without.tree) return false;
    for (const auto& [kernel, fields] : without.fields) {
      auto& all = differences.fields[kernel];
      all.insert(all.end(), fields.begin(), fields.end());
    }
    return look_at(*without.tree);
  };
  if (look_with(WithoutArraysIn(*last))) return;
  if (look_with(WithoutStructsIn(context_of(*last)))) return;
  if (look_with(WithSizesIn(context_of(*last)))) return;
  if (const Parsed& with = WithSingleCountersIn(*last); with && look_at(*with)) return;
  if (const Parsed& with = WithSumsInRegisters(context_of(*last)); with && look_at(*with)) return;
  if (const Parsed& without = WithoutLoops(context_of(*last), loops); without && look_at(*without)) return;
  if (!restate) return;
  const Restated& restated = RestatedIn(context_of(*last), restate);
  reasons = restated.reasons;
  if (!restated.tree) return;
  differences.added = AddedParameters(*last, context_of(*restated.tree));
  look_at(*restated.tree);
}

}  // namespace

MutationContext WrittenOut(const MutationContext& context) {
  const auto context_of = [&](const SyntaxTree& tree) {
    return MutationContext{context.kernel_template,   context.genome,        tree,
                           TemplateOf(context, tree), context.second_parent, context.product_elsewhere};
  };
  const SyntaxTree* last = &context.tree;
  for (const SyntaxTree* tree = last->plain(); tree != nullptr; tree = tree->plain()) last = tree;
  if (const WithoutFields& without = WithoutVectorsIn(*last); without.tree) last = without.tree.get();
  if (const WithoutFields& without = WithoutArraysIn(*last); without.tree) last = without.tree.get();
  if (const WithoutFields& without = WithoutStructsIn(context_of(*last)); without.tree) last = without.tree.get();
  return context_of(*last);
}

namespace {

std::size_t ChangesOf(const std::vector<Proposal>& proposals) {
  std::size_t most = 0;
  for (const Proposal& proposal : proposals) most = std::max(most, proposal.changes.size());
  return most;
}

}  // namespace

std::vector<Proposal> InPlainSource(const MutationContext& context, const FindProposals& find, ThreadLoops loops,
                                    Preferred preferred, const Restate& restate) {
  std::vector<Proposal> best = find(context);
  const bool first = preferred == Preferred::kLeastWrittenOut;
  if (first && !best.empty()) return best;
  std::size_t changes = ChangesOf(best);
  const auto look = [&](const MutationContext& plain, const ParameterDifferences& differences) {
    const std::vector<Proposal> found = find(plain);
    if (ChangesOf(found) <= changes) return false;
    std::vector<Proposal> proposals;
    for (const Proposal& proposal : found) {
      if (auto translated = InSource(proposal, context, plain, differences)) proposals.push_back(std::move(*translated));
    }
    if (proposals.empty()) return false;
    best = std::move(proposals);
    changes = ChangesOf(found);
    return first;
  };
  std::vector<std::string> reasons;
  WithPlainContexts(context, loops, restate, reasons, look);
  return best;
}

std::vector<std::string> RefusalsInPlainSource(const MutationContext& context, const FindProposals& find,
                                               const FindRefusals& refuse, ThreadLoops loops, const Restate& restate,
                                               bool by_itself) {
  std::vector<std::string> refusals = refuse(context), more;
  if (!find(context).empty()) return refusals;
  const auto look = [&](const MutationContext& plain, const ParameterDifferences& differences) {
    refusals = refuse(plain);
    for (std::string& refusal : refusals) refusal = WithSizesOfSource(std::move(refusal), differences);
    return !find(plain).empty();
  };
  WithPlainContexts(context, loops, restate, more, look);
  // The reason goes behind the kernel's own.
  for (const std::string& why : more) {
    const std::size_t colon = why.find(": ");
    const auto of_kernel = [&](const std::string& refusal) { return refusal.starts_with(why.substr(0, colon + 2)); };
    if (by_itself && std::none_of(refusals.begin(), refusals.end(), of_kernel)) {
      refusals.push_back(why);
      continue;
    }
    for (std::string& refusal : refusals) {
      if (colon != std::string::npos && refusal.starts_with(why.substr(0, colon + 2))) refusal += ";" + why.substr(colon + 1);
    }
  }
  return refusals;
}

}  // namespace evo
