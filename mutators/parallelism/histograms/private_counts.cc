#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <set>
#include <variant>

#include "kernel_templates/brought_parameters.h"
#include "mutators/analysis/block_runs/block_loop.h"
#include "mutators/analysis/plain_source/plain_source.h"
#include "mutators/analysis/plain_source/plain_translation.h"
#include "mutators/analysis/source/counted_loop.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/global_memory.h"
#include "mutators/analysis/source/indentation.h"
#include "mutators/analysis/source/work_sharing.h"
#include "mutators/parallelism/histograms/count_addition.h"
#include "mutators/parallelism/histograms/shared_counts.h"
#include "mutators/parallelism/histograms/thread_per_bin.h"

namespace evo {
namespace {

using namespace std::string_view_literals;

const std::vector<std::int64_t> kCountValues{256, 512, 1024, 2048, 4096};
const std::vector<std::int64_t> kCountCopies{1, 2, 4, 8, 16, 32};
// Multiples of the multiprocessors of a large device, and a few for small ones and for grids of more dimensions.
const std::vector<std::int64_t> kCountBlocks{1, 2, 4, 8, 16, 33, 66, 132, 264, 528, 1056};
constexpr int kStaticSharedBytes = 49152;

// The parameter that a pointer is, or from which a variable is computed that never changes; -1 for others.
int PointedInto(const SyntaxTree& tree, int use) {
  const int named = NamedDeclaration(tree, use);
  if (named < 0 || tree.node(named).kind_name != "VarDecl") return named;
  const SyntaxNode& variable = tree.node(named);
  if (variable.function < 0 || variable.children.empty() || WrittenIn(tree, variable.function).contains(named)) return -1;
  int value = WithoutParentheses(tree, variable.children.back());
  if (tree.Operator(value) == "&" && tree.node(value).children.size() == 1) {
    value = WithoutParentheses(tree, tree.node(value).children.front());
    if (tree.node(value).kind_name != "ArraySubscriptExpr") return -1;
    return NamedDeclaration(tree, tree.node(value).children.front());
  }
  if (tree.Operator(value) == "+" && tree.node(value).children.size() == 2) value = tree.node(value).children.front();
  const int root = NamedDeclaration(tree, value);
  return root >= 0 && tree.node(root).kind_name == "ParmDecl" ? root : -1;
}

// Counts in global memory, of a kernel that does nothing else with them.
struct Counts {
  int kernel = -1;
  int parameter = -1;
  std::string type;  // of a count, without a sign: wrapping around is defined for it; or of a real sum
  int bytes = 4;
  std::vector<CountAddition> additions;
};

// What is added up. Sums of floating-point numbers depend on their order, so that they are another mutator's.
enum class Summed { kIntegers, kReals };

// The type in which sums are kept, for integers the unsigned one that counts alike; empty for others.
std::string SumTypeOf(const std::string& type, Summed summed) {
  if (summed == Summed::kReals) return type == "float" || type == "double" ? type : "";
  if (type == "int" || type == "unsigned int") return "unsigned int";
  return type == "unsigned long long" ? type : "";
}

// The type in which a bin is kept, and the unsigned one in which it is compared; empty if it is no integer.
struct BinType {
  std::string kept;
  std::string compared;
};
BinType BinTypeOf(std::string type) {
  type = WithoutConst(std::move(type));
  constexpr std::array kShort{"char"sv, "signed char"sv, "unsigned char"sv, "short"sv, "unsigned short"sv, "int"sv};
  if (std::find(kShort.begin(), kShort.end(), type) != kShort.end()) return {"int", "unsigned int"};
  if (type == "unsigned int") return {type, type};
  if (type == "long" || type == "long long") return {"long long", "unsigned long long"};
  if (type == "unsigned long" || type == "unsigned long long") return {"unsigned long long", "unsigned long long"};
  return {};
}

using Found = std::variant<Counts, std::string>;

// Atomic additions of all threads to counts in global memory become additions to copies in shared memory, which each block adds
// to global memory once at its end; a block takes more elements than before, so that this is rare.
class PrivateCounts : public SourceMutator {
 public:
  explicit PrivateCounts(Summed summed) : summed_(summed) {}
  std::string_view name() const override { return summed_ == Summed::kIntegers ? "private_counts" : "private_sums"; }
  Promise promise() const override { return summed_ == Summed::kIntegers ? Promise::kExact : Promise::kReassociating; }
  std::string_view description() const override {
    return summed_ == Summed::kIntegers
               ? "counts in shared memory what threads count in global memory by atomics, with the counts, copies and blocks as "
                 "parameters"
               : "as private_counts, of sums of float or double";
  }
  double weight() const override { return 3; }

  std::vector<Proposal> Proposals(const MutationContext& context) const override {
    return InPlainSource(context, [this](const MutationContext& source) { return ProposalsIn(source, summed_); });
  }

  std::vector<std::string> Refusals(const MutationContext& context) const override {
    return RefusalsInPlainSource(
        context, [this](const MutationContext& source) { return ProposalsIn(source, summed_); },
        [this](const MutationContext& source) { return RefusalsIn(source, summed_); });
  }

 private:
  static std::vector<Proposal> ProposalsIn(const MutationContext& context, Summed summed) {
    std::vector<Proposal> proposals = OfGlobalCounts(context, summed);
    for (Proposal& proposal : OfSharedCounts(context, summed)) proposals.push_back(std::move(proposal));
    if (summed == Summed::kReals) return proposals;
    for (auto& found : ThreadsPerBin(context)) {
      if (auto* proposal = std::get_if<Proposal>(&found)) proposals.push_back(std::move(*proposal));
    }
    return proposals;
  }

  static std::vector<Proposal> OfGlobalCounts(const MutationContext& context, Summed summed,
                                              const std::set<std::string>& without = {}) {
    std::vector<Proposal> proposals;
    for (const Found& found : All(context, summed)) {
      const auto* counts = std::get_if<Counts>(&found);
      if (counts == nullptr || without.contains(context.tree.node(counts->kernel).name)) continue;
      const LaunchDirective* launch = OnlyLaunch(context.rendered, context.tree.node(counts->kernel).name);
      for (std::size_t axis = 0; launch != nullptr && axis < launch->grid.size(); ++axis) {
        if (auto proposal = Privatised(context, *counts, *launch, axis)) proposals.push_back(std::move(*proposal));
      }
    }
    return proposals;
  }

  // Of counts that are in shared memory already, but with one copy: as if they were in global memory.
  static std::vector<Proposal> OfSharedCounts(const MutationContext& context, Summed summed) {
    struct Without {
      std::shared_ptr<const SyntaxTree> tree;
      std::vector<PartialCounts> partial;
    };
    const auto& without = context.tree.Kept<Without>("without shared counts", [&]() -> Without {
      const auto plain = WithoutSharedCounts(context);
      return plain ? Without{context.tree.Reparsed(plain->text), plain->partial} : Without{};
    });
    std::vector<Proposal> proposals;
    if (!without.tree) return proposals;
    const KernelTemplate rendered = WithoutPartialCounts(context.rendered, without.partial);
    const MutationContext plain{context.kernel_template, context.genome,           *without.tree, rendered,
                                context.second_parent,   context.product_elsewhere};
    std::set<std::string> understood;
    for (const Found& found : All(context, summed))
      if (const auto* counts = std::get_if<Counts>(&found)) understood.insert(context.tree.node(counts->kernel).name);
    for (Proposal& proposal : OfGlobalCounts(plain, summed, understood)) {
      LeaveOutPartialCounts(plain, without.partial, proposal);
      if (auto translated = InSource(proposal, context, plain, {})) proposals.push_back(std::move(*translated));
    }
    return proposals;
  }

  static std::vector<std::string> RefusalsIn(const MutationContext& context, Summed summed) {
    std::vector<std::string> refusals;
    for (const Found& found : All(context, summed)) {
      if (const auto* why = std::get_if<std::string>(&found)) refusals.push_back(*why);
    }
    if (summed == Summed::kReals) return refusals;
    for (const int kernel : Functions(context.tree)) {
      if (IsKernel(context.tree, kernel) && CountsForItsBlock(context.tree, kernel))
        refusals.push_back(fmt::format("{}: it counts in shared memory, and adds these counts to none elsewhere by atomics",
                                       context.tree.node(kernel).name));
    }
    for (const auto& found : ThreadsPerBin(context)) {
      if (const auto* why = std::get_if<std::string>(&found)) refusals.push_back(*why);
    }
    return refusals;
  }

  // Each array that a kernel adds to by atomics, or why not. Counts are no sums of reals, and need no reason.
  static std::vector<Found> All(const MutationContext& context, Summed summed) {
    const SyntaxTree& tree = context.tree;
    std::vector<Found> all;
    for (const int kernel : Functions(tree)) {
      if (!IsKernel(tree, kernel) || tree.node(tree.node(kernel).children.back()).kind_name != "CompoundStmt") continue;
      std::vector<int> parameters;
      for (const int at : Subtree(tree, kernel)) {
        const auto addition = AsCountAddition(tree, at);
        const int named = addition ? PointedInto(tree, addition->use) : -1;
        if (named < 0 || tree.node(named).kind_name != "ParmDecl" || tree.node(named).function != kernel) continue;
        if (std::find(parameters.begin(), parameters.end(), named) == parameters.end()) parameters.push_back(named);
      }
      for (const int parameter : parameters) {
        Counts counts{kernel, parameter, {}, 4, {}};
        const std::string& type = tree.node(parameter).type;
        const bool reals = type.starts_with("float ") || type.starts_with("double ");
        if (summed == Summed::kReals && !reals) continue;
        const std::string why = Understand(context, counts, summed);
        if (why.empty())
          all.emplace_back(std::move(counts));
        else
          all.emplace_back(fmt::format("{}: {}", tree.node(kernel).name, why));
      }
    }
    return all;
  }

  // Fills in `counts`; else says why its kernel is left as it is.
  static std::string Understand(const MutationContext& context, Counts& counts, Summed summed) {
    const SyntaxTree& tree = context.tree;
    const std::string& name = tree.node(counts.parameter).name;
    if (WaitsForOthers(tree, counts.kernel)) return "its threads wait for each other already";
    if (IsPassedTwice(tree, context.rendered, counts.parameter))
      return fmt::format("`{}` may be the memory of another one", name);
    for (const int at : Subtree(tree, counts.kernel)) {
      const auto addition = AsCountAddition(tree, at);
      if (addition && PointedInto(tree, addition->use) == counts.parameter) counts.additions.push_back(*addition);
    }
    const auto is_addition = [&](int use) {
      return std::any_of(counts.additions.begin(), counts.additions.end(), [&](const CountAddition& a) { return a.use == use; });
    };
    // The variables that point into the counts are named by additions only.
    std::set<int> pointers;
    for (const CountAddition& addition : counts.additions) pointers.insert(NamedDeclaration(tree, addition.use));
    pointers.erase(counts.parameter);
    // Where such a variable is computed, the counts are named once, and not read.
    const auto starts_pointer = [&](int use) {
      return std::any_of(pointers.begin(), pointers.end(), [&](int pointer) {
        const auto& uses = tree.UsesOf(counts.parameter);
        const auto within = [&](int other) { return IsWithin(tree, other, pointer); };
        return within(use) && std::count_if(uses.begin(), uses.end(), within) == 1;
      });
    };
    for (const int pointer : pointers) {
      for (const int use : tree.UsesOf(pointer)) {
        if (!is_addition(use)) return fmt::format("it does more with `{}` than add by atomics", tree.node(pointer).name);
      }
    }
    for (const int use : tree.UsesOf(counts.parameter)) {
      if (!is_addition(use) && !starts_pointer(use))
        return fmt::format("it does more with `{}` than add by atomics whose result nobody uses", name);
    }
    std::string type = tree.node(counts.additions.front().use).type;
    type = WithoutConst(type.substr(0, type.find(" *")));
    counts.type = SumTypeOf(type, summed);
    if (counts.type.empty()) return fmt::format("elements of `{}` are no integers of 32 or 64 bits that count", name);
    counts.bytes = counts.type == "unsigned int" || counts.type == "float" ? 4 : 8;
    for (const CountAddition& addition : counts.additions) {
      for (const int bin : addition.bins) {
        if (BinTypeOf(tree.node(bin).type).kept.empty()) return fmt::format("`{}` is no integer", tree.Text(bin));
      }
    }
    return "";
  }

  // Whether shared memory, barriers, shuffles or functions of the file that are not understood are in the way: a thread that
  // returns early goes on to the block's barrier.
  static bool WaitsForOthers(const SyntaxTree& tree, int kernel) {
    for (const int at : Subtree(tree, kernel)) {
      const SyntaxNode& node = tree.node(at);
      if (node.kind_name == "attribute(shared)" || node.kind_name == "LambdaExpr" || node.kind_name == "GotoStmt" ||
          node.kind_name.find("Asm") != std::string::npos)
        return true;
      if (node.kind_name != "CallExpr") continue;
      const std::string_view callee = LibraryCallee(tree, at);
      if (callee.find("sync") != std::string_view::npos || callee == "__activemask" || callee.starts_with("__threadfence"))
        return true;
      const bool own = callee.empty() && !node.children.empty() && NamedDeclaration(tree, node.children.front()) >= 0;
      if (own && !IsPure(tree, at)) return true;
    }
    return false;
  }

  static std::optional<Proposal> Privatised(const MutationContext& context, const Counts& counts, const LaunchDirective& launch,
                                            std::size_t axis) {
    const SyntaxTree& tree = context.tree;
    std::string names = tree.text();
    const auto unused = [&](const char* wanted) {
      std::string name = UnusedName(names, wanted);
      names += " " + name;
      return name;
    };
    const std::string values = unused("COUNTS"), copies = unused("COPIES"), blocks = unused("BLOCKS");
    const std::string array = unused("counts"), bin = unused("bin"), thread = unused("thread"), threads = unused("threads");
    const std::string& global = tree.node(counts.parameter).name;
    const bool flat = launch.block.size() == 1;
    OutsideLoop outside;
    outside.before = fmt::format(
        "// {0} copies of the first {1} elements of {2}, for the block alone; the copies of one are neighbours.\n"
        "__shared__ {3} {4}[{1} * {0}];\n"
        "const int {5} = {6};\n"
        "const int {7} = {8};\n"
        "for (int i = {5}; i < {1} * {0}; i += {7}) {4}[i] = 0;\n"
        "__syncthreads();",
        copies, values, global, counts.type, array, thread,
        flat ? "threadIdx.x" : "(threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x", threads,
        flat ? "blockDim.x" : "blockDim.x * blockDim.y * blockDim.z");
    // Threads begin with different copies, so that they read different banks.
    outside.after = fmt::format(
        "__syncthreads();\n"
        "for (int i = {0}; i < {1}; i += {2}) {{\n"
        "  {3} sum = 0;\n"
        "  for (int copy = 0; copy < {4}; ++copy) sum += {5}[i * {4} + (copy + i) % {4}];\n"
        "  if (sum != 0) atomicAdd(&{6}[i], sum);\n"
        "}}",
        thread, values, threads, counts.type, copies, array, global);
    auto loop = LoopOverBlocks(context, counts.kernel, axis, outside);
    if (!loop) return std::nullopt;
    Proposal proposal = std::move(loop->proposal);
    for (const CountAddition& addition : counts.additions) {
      const bool direct = NamedDeclaration(tree, addition.use) == counts.parameter;
      const bool plain = direct && addition.bins.size() == 1;
      const BinType type = plain ? BinTypeOf(tree.node(addition.bins[0]).type) : BinTypeOf("long long");
      // What the loop changes within the addition, such as `blockIdx.x` in a bin, is part of the addition's new text.
      Replacements within;
      std::erase_if(proposal.changes, [&](const Proposal::Change& change) {
        if (change.node == addition.call || !IsWithin(tree, change.node, addition.call)) return false;
        within.emplace_back(change.node, change.text);
        return true;
      });
      std::string index = direct ? "0LL" : fmt::format("{} - {}", tree.Text(addition.use), global);
      for (const int more : addition.bins) index += fmt::format(" + ({})", TextWith(tree, more, within));
      if (plain) index = TextWith(tree, addition.bins[0], within);
      const std::string amount = TextWith(tree, addition.amount, within);
      const std::string text = fmt::format(
          "{{\n"
          "  const {0} {1} = {2};\n"
          "  if (static_cast<{3}>({1}) < {4})\n"
          "    atomicAdd(&{5}[{1} * {6} + {7} % {6}], {8});\n"
          "  else\n"
          "    atomicAdd(&{9}[{1}], {8});\n"
          "}}",
          type.kept, bin, index, type.compared, values, array, copies, thread, amount, global);
      proposal.changes.push_back({addition.call, Placement::kReplace, LinesAt(text, IndentOf(tree, addition.call))});
    }
    // The kernel has no other shared memory.
    if (launch.shared.text() != "0") proposal.launch.push_back({launch.kernel, "shared", ""});
    proposal.launch.push_back(WithDimension(launch, "grid", axis, fmt::format("min({}, {})", loop->whole, blocks)));
    proposal.brings = {{values, kCountValues, 256}, {copies, kCountCopies, 8}, {blocks, kCountBlocks, 264}};
    proposal.constraints.push_back(fmt::format("{} * {} * {} <= {}", values, copies, counts.bytes, kStaticSharedBytes));
    return proposal;
  }

  const Summed summed_;
};

}  // namespace

std::unique_ptr<Mutator> MakePrivateCounts() { return std::make_unique<PrivateCounts>(Summed::kIntegers); }
std::unique_ptr<Mutator> MakePrivateSums() { return std::make_unique<PrivateCounts>(Summed::kReals); }

}  // namespace evo
