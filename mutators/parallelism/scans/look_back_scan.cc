#include <fmt/format.h>

#include <algorithm>
#include <boost/algorithm/string/case_conv.hpp>

#include "kernel_templates/brought_parameters.h"
#include "mutators/analysis/grid_runs/grid_source.h"
#include "mutators/analysis/scans/launches_alone.h"
#include "mutators/analysis/scans/part_scan.h"
#include "mutators/analysis/scans/prefix_scan.h"
#include "mutators/analysis/scans/row_scan.h"
#include "mutators/analysis/scans/swapped_scan.h"
#include "mutators/parallelism/kernel_visitor.h"
#include "mutators/parallelism/scans/look_back_writer.h"
#include "mutators/parallelism/scans/part_scan_writer.h"

namespace evo {
namespace {

const std::vector<std::int64_t> kScanThreads{128, 256, 512, 1024};
const std::vector<std::int64_t> kScanItems{4, 8, 16, 32};
const std::vector<std::int64_t> kLongScanItems{4, 8, 16};  // of 8 bytes

// Launches that together compute prefix sums become one that reads each element once: blocks look back at the sums of those
// before them. All of it at once, because every part of it alone makes the kernels slower.
class LookBackScan : public KernelVisitor {
 public:
  std::string_view name() const override { return "look_back_scan"; }
  Promise promise() const override { return Promise::kReassociating; }
  std::string_view description() const override {
    return "computes prefix sums in one launch whose blocks look back at the sums of those before them, with sizes as parameters";
  }
  double weight() const override { return 3; }

 private:
  void Visit(const MutationContext& context, const Propose& propose, const Refuse& refuse) const override {
    const auto found = AsPrefixScan(context);
    if (const auto* why = std::get_if<std::string>(&found)) {
      const auto parts = AsPartScan(context);
      if (const auto* scan = std::get_if<PartScan>(&parts)) return propose(PartScanProposal(context, *scan));
      if (const auto scan = AsSwappedScan(context)) return propose(Unswapped(context, *scan));
      if (!why->empty() && (!IsOfSizes(context) || SpeaksOfScans(context))) refuse(fmt::format("the launches: {}", *why));
      return;
    }
    propose(Rewritten(context, std::get<PrefixScan>(found)));
  }

  static bool IsOfSizes(const MutationContext& context) {
    const GridSource source(context);
    return source.size().empty();
  }

  // Whether somebody might ask why it is no scan, although nothing else shows that it is meant to be one.
  static bool SpeaksOfScans(const MutationContext& context) {
    std::string text = context.tree.text();
    boost::algorithm::to_lower(text);
    const auto has = [&](const char* word) { return text.find(word) != std::string::npos; };
    return has("scan") || has("prefix") || has("cumsum") || has("cumulative");
  }

  std::vector<std::string> RefusalsByResults(const MutationContext& context) const override {
    if (!SpeaksOfScans(context)) return {};
    const StepBudget budget;
    const MutationContext plain = WrittenOut(context);
    std::string why;
    AsRowScan(plain, why);
    if (why.empty()) return {};
    return {fmt::format("the launches: as rows, {}", why)};
  }

  // Rows by themselves, and what only one of several launches does.
  std::vector<Proposal> ProposalsByResults(const MutationContext& context) const override {
    return InPlainSource(context, [](const MutationContext& source) {
      const StepBudget budget;
      std::vector<Proposal> proposals;
      std::string why;
      if (const auto rows = AsRowScan(source, why)) return std::vector{PartScanProposal(source, *rows)};
      for (const auto& alone : LaunchesAlone(source)) {
        const auto whole = AsPrefixScan(alone->context());
        if (const auto* scan = std::get_if<PrefixScan>(&whole)) {
          proposals.push_back(Rewritten(alone->context(), *scan));
          continue;
        }
        const auto parts = AsPartScan(alone->context());
        if (const auto* scan = std::get_if<PartScan>(&parts)) {
          proposals.push_back(PartScanProposal(alone->context(), *scan));
        } else if (const auto rows = AsRowScan(alone->context(), why); rows && rows->rows != "1") {
          // The sums of the blocks of another launch are few.
          proposals.push_back(PartScanProposal(alone->context(), *rows));
        }
      }
      return proposals;
    });
  }

  static Proposal Rewritten(const MutationContext& context, const PrefixScan& scan) {
    const auto unused = [&](const char* wanted) { return UnusedName(context.tree.text(), wanted); };
    LookBackNames names{unused("THREADS"), unused("ITEMS"), unused("states"), unused("ticket"),
                        context.tree.node(scan.kernel).name};
    Proposal proposal;
    proposal.parameters = scan.parameters;
    proposal.brings = {{names.threads, kScanThreads, 256},
                       {names.items, scan.long_elements ? kLongScanItems : kScanItems, scan.long_elements ? 8 : 16}};
    const std::string before = scan.in_loop ? "ahead" : "before";
    const bool launched_anew = scan.repeated || scan.in_loop;
    if (!scan.When().empty() || launched_anew) names.kernel = unused("scan_by_look_back");
    if (!scan.When().empty()) {
      AddBeside(context, scan, names, proposal);
      return proposal;
    }
    for (const int function : scan.functions) {
      const std::string text = function == scan.kernel ? LookBackText(context.tree, scan, names) : "";
      proposal.changes.push_back({function, Placement::kReplace, text});
      const auto& children = context.tree.node(function).children;
      if (!children.empty() && context.tree.node(children.back()).kind_name == "CompoundStmt")
        proposal.also_anchored.push_back(children.back());
    }
    const std::string& kernel = scan.launch->kernel;
    AddWorkspaces(scan, names, proposal);
    if (launched_anew) {
      proposal.launch.push_back({kernel, before, Launch(scan, names)});
      proposal.launch.push_back({kernel, "removed", ""});
    } else {
      proposal.launch.push_back({kernel, "arguments", Arguments(scan, names)});
      proposal.launch.push_back({kernel, "grid", Tiles(scan, names)});
      proposal.launch.push_back({kernel, "block", names.threads});
      if (scan.launch->shared.text() != "0") proposal.launch.push_back({kernel, "shared", ""});
    }
    for (const std::string& other : scan.others) proposal.launch.push_back({other, "removed", ""});
    if (!context.rendered.workspaces.empty()) proposal.launch.push_back({names.kernel, "unused", ""});
    return proposal;
  }

  // Ahead of the loop, where the buffers have their first names: the scan into the one that has it after so many turns, and the
  // windows into the other.
  static Proposal Unswapped(const MutationContext& context, const SwappedScan& found) {
    PrefixScan scan = found.scan;
    scan.in_loop = true;
    const std::string other = scan.output;
    // In place for an even number of turns, so that no pointer is alone.
    scan.output = scan.input;
    const auto unused = [&](const char* wanted) { return UnusedName(context.tree.text(), wanted); };
    const LookBackNames names{unused("THREADS"), unused("ITEMS"), unused("states"), unused("ticket"),
                              unused("scan_by_look_back")};
    const std::string windows = unused("sums_of_windows"), &kernel = scan.launch->kernel;
    Proposal proposal;
    proposal.parameters = scan.parameters;
    proposal.brings = {{names.threads, kScanThreads, 256},
                       {names.items, scan.long_elements ? kLongScanItems : kScanItems, scan.long_elements ? 8 : 16}};
    const std::string text = fmt::format(
        "\n\n// The sums of `window` elements up to each, from those of all up to it.\n"
        "__global__ void {0}(const {1}* sums, {1}* Y, long long window, long long count) {{\n"
        "  const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;\n"
        "  if (i < count) Y[i] = i < window ? sums[i] : sums[i] - sums[i - window];\n"
        "}}",
        windows, scan.type);
    for (const int function : scan.functions) {
      const bool first = function == scan.kernel;
      proposal.changes.push_back(
          {function, Placement::kReplace, first ? LookBackText(context.tree, scan, names) + text : std::string()});
      const auto& children = context.tree.node(function).children;
      if (!children.empty() && context.tree.node(children.back()).kind_name == "CompoundStmt")
        proposal.also_anchored.push_back(children.back());
    }
    AddWorkspaces(scan, names, proposal);
    for (const bool odd : {false, true}) {
      PrefixScan one = scan;
      one.output = odd ? other : scan.input;
      const std::string when = fmt::format("{0} > {1} && {0} % 2 == {1}", found.turns, odd ? 1 : 0);
      const std::string scanned = odd ? fmt::format("{} % 2 == 1", found.turns) : when;
      proposal.launch.push_back({kernel, "ahead", fmt::format("{} when({})", Launch(one, names), scanned)});
      proposal.launch.push_back(
          {kernel, "ahead",
           fmt::format("launch {0}({1}, {2}, i64({3}), i64({4})) grid(ceil_div({4}, {5})) block({5}) when({6})", windows,
                       one.output, odd ? scan.input : other, found.window, scan.size, names.threads, when)});
    }
    proposal.launch.push_back({kernel, "removed", ""});
    return proposal;
  }

  static std::string Launch(const PrefixScan& scan, const LookBackNames& names) {
    return fmt::format("launch {}({}) grid({}) block({})", names.kernel, Arguments(scan, names), Tiles(scan, names),
                       names.threads);
  }

  static std::string Tiles(const PrefixScan& scan, const LookBackNames& names) {
    return fmt::format("ceil_div({}, {} * {})", scan.size, names.threads, names.items);
  }

  static std::string Arguments(const PrefixScan& scan, const LookBackNames& names) {
    const std::string size = scan.wide ? fmt::format("i64({})", scan.size) : scan.size;
    std::string outputs = scan.output;
    for (const std::string& other : {scan.also, scan.total_to}) outputs += other.empty() ? "" : ", " + other;
    return fmt::format("{}, {}, {}, {}, {}", scan.input, outputs, names.states, names.ticket, size);
  }

  static void AddWorkspaces(const PrefixScan& scan, const LookBackNames& names, Proposal& proposal) {
    const std::string& kernel = scan.launch->kernel;
    const std::string before = scan.in_loop ? "ahead" : "before";
    proposal.launch.push_back(
        {kernel, before,
         fmt::format("workspace {} u64 [{}{}]", names.states, scan.long_elements ? "2 * " : "", Tiles(scan, names))});
    proposal.launch.push_back({kernel, before, fmt::format("workspace {} u32 [1]", names.ticket)});
    proposal.launch.push_back({kernel, before, fmt::format("memset {} 0", names.states)});
    proposal.launch.push_back({kernel, before, fmt::format("memset {} 0", names.ticket)});
  }

  // The new kernel beside the old ones, which are launched for the numbers of elements for which it does not do the same.
  static void AddBeside(const MutationContext& context, const PrefixScan& scan, const LookBackNames& names, Proposal& proposal) {
    const std::string& kernel = scan.launch->kernel;
    proposal.changes.push_back({scan.kernel, Placement::kBefore, LookBackText(context.tree, scan, names) + "\n\n"});
    for (const int function : scan.functions) {
      const auto& children = context.tree.node(function).children;
      if (!children.empty() && context.tree.node(children.back()).kind_name == "CompoundStmt")
        proposal.also_anchored.push_back(children.back());
    }
    AddWorkspaces(scan, names, proposal);
    proposal.launch.push_back(
        {kernel, scan.in_loop ? "ahead" : "before", fmt::format("{} when({})", Launch(scan, names), scan.When())});
    std::vector<std::string> old = scan.others;
    old.push_back(kernel);
    const bool of_some = scan.only > 0 || scan.powers_of_two || scan.multiple > 1 || !scan.other_when.empty();
    const std::string others = of_some ? fmt::format("!({})", scan.When()) : fmt::format("{} > {}", scan.size, scan.most);
    for (const std::string& other : old) proposal.launch.push_back({other, "when", others});
  }
};

}  // namespace

std::unique_ptr<Mutator> MakeLookBackScan() { return std::make_unique<LookBackScan>(); }

}  // namespace evo
