#include <fmt/format.h>

#include <algorithm>

#include "kernel_templates/brought_parameters.h"
#include "mutators/analysis/prefix_scan.h"
#include "mutators/parallelism/kernel_visitor.h"
#include "mutators/parallelism/look_back_writer.h"

namespace evo {
namespace {

const std::vector<std::int64_t> kScanThreads{128, 256, 512, 1024};
const std::vector<std::int64_t> kScanItems{4, 8, 16, 32};

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
      if (!why->empty()) refuse(fmt::format("the launches: {}", *why));
      return;
    }
    propose(Rewritten(context, std::get<PrefixScan>(found)));
  }

  static Proposal Rewritten(const MutationContext& context, const PrefixScan& scan) {
    const auto unused = [&](const char* wanted) { return UnusedName(context.tree.text(), wanted); };
    const LookBackNames names{unused("THREADS"), unused("ITEMS"), unused("states"), unused("ticket")};
    Proposal proposal;
    for (const int function : scan.functions) {
      const std::string text = function == scan.kernel ? LookBackText(context.tree, scan, names) : "";
      proposal.changes.push_back({function, Placement::kReplace, text});
      const auto& children = context.tree.node(function).children;
      if (!children.empty() && context.tree.node(children.back()).kind_name == "CompoundStmt")
        proposal.also_anchored.push_back(children.back());
    }
    const std::string tiles = fmt::format("ceil_div({}, {} * {})", scan.size, names.threads, names.items);
    const std::string& kernel = scan.launch->kernel;
    const std::string size = scan.wide ? fmt::format("i64({})", scan.size) : scan.size;
    proposal.launch = {
        {kernel, "before", fmt::format("workspace {} u64 [{}]", names.states, tiles)},
        {kernel, "before", fmt::format("workspace {} u32 [1]", names.ticket)},
        {kernel, "before", fmt::format("memset {} 0", names.states)},
        {kernel, "before", fmt::format("memset {} 0", names.ticket)},
        {kernel, "arguments", fmt::format("{}, {}, {}, {}, {}", scan.input, scan.output, names.states, names.ticket, size)},
        {kernel, "grid", tiles},
        {kernel, "block", names.threads}};
    if (scan.launch->shared.text() != "0") proposal.launch.push_back({kernel, "shared", ""});
    for (const std::string& other : scan.others) proposal.launch.push_back({other, "removed", ""});
    if (!context.rendered.workspaces.empty()) proposal.launch.push_back({kernel, "unused", ""});
    proposal.parameters = scan.parameters;
    proposal.brings = {{names.threads, kScanThreads, 256}, {names.items, kScanItems, 16}};
    return proposal;
  }
};

}  // namespace

std::unique_ptr<Mutator> MakeLookBackScan() { return std::make_unique<LookBackScan>(); }

}  // namespace evo
