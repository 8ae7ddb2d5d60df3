#include <fmt/format.h>

#include "kernel_templates/brought_parameters.h"
#include "mutators/analysis/global_memory.h"
#include "mutators/analysis/source_query.h"
#include "mutators/analysis/stencil.h"
#include "mutators/parallelism/kernel_visitor.h"
#include "mutators/parallelism/stencil_writer.h"

namespace evo {
namespace {

// The sizes that are searched.
const std::vector<std::int64_t> kStencilThreadsX{32, 64, 128, 256};
const std::vector<std::int64_t> kStencilThreadsY{1, 2, 4, 8};
const std::vector<std::int64_t> kStencilItems{1, 2, 4};
const std::vector<std::int64_t> kStencilRows{1, 2, 4};
const std::vector<std::int64_t> kStencilSteps{4, 8, 16, 32, 64, 128};
const std::vector<std::int64_t> kStencilAhead{0, 1, 2};
// Registers of a thread that neighbours may take; with more, they spill.
constexpr int kRegistersOfStencil = 160;

// One thread per element of a stencil becomes a thread that walks along the slowest dimension. It keeps the rows or planes that it
// still needs in registers, so that it loads one of them in each step.
class StencilRows : public KernelVisitor {
 public:
  std::string_view name() const override { return "stencil_rows"; }
  // What is computed of an element's neighbours is the kernel's own text. The neighbours are the same elements.
  Promise promise() const override { return Promise::kExact; }
  std::string_view description() const override {
    return "walks through the rows or planes of a stencil with neighbours in registers, with elements, rows and steps as "
           "parameters";
  }
  double weight() const override { return 3; }

 private:
  void Visit(const MutationContext& context, const Propose& propose, const Refuse& refuse) const override {
    const SyntaxTree& tree = context.tree;
    for (const int kernel : Functions(tree)) {
      if (!IsKernel(tree, kernel)) continue;
      const auto found = AsStencil(context, kernel);
      if (const auto* why = std::get_if<std::string>(&found)) {
        if (!why->empty()) refuse(fmt::format("{}: {}", tree.node(kernel).name, *why));
        continue;
      }
      propose(Walking(context, std::get<Stencil>(found)));
    }
  }

  static Proposal Walking(const MutationContext& context, const Stencil& found) {
    const SyntaxTree& tree = context.tree;
    const auto unused = [&](const char* wanted) { return UnusedName(tree.text(), wanted); };
    const StencilParameters names{unused("THREADS_X"), unused("THREADS_Y"), unused("ELEMENTS"),
                                  unused("ROWS"),      unused("STEPS"),     unused("AHEAD")};
    const StencilWriter writer(context, found, names);
    Proposal proposal;
    proposal.changes.push_back({found.kernel, Placement::kBefore, writer.Functions()});
    // Without it, what is read would be loaded anew after each store.
    for (const int parameter : tree.node(found.kernel).children) {
      const std::string text(tree.node(parameter).kind_name == "ParmDecl" ? tree.Text(parameter) : "");
      const std::size_t star = text.rfind('*');
      if (star == std::string::npos || text.find('*') != star || text.find("__restrict") != std::string::npos ||
          IsPassedTwice(tree, context.rendered, parameter))
        continue;
      const std::string rest = text.substr(text.find_first_not_of(' ', star + 1));
      const std::string before = text.substr(0, text.find_last_not_of(' ', star - 1) + 1);
      proposal.changes.push_back({parameter, Placement::kReplace, fmt::format("{}* __restrict__ {}", before, rest)});
    }
    proposal.changes.push_back({tree.node(found.kernel).children.back(), Placement::kReplace, writer.Body()});
    const std::string& launched = found.launch->kernel;
    proposal.launch = {{launched, "grid", writer.Grid()}, {launched, "block", writer.Block()}};
    proposal.parameters = found.parameters;
    proposal.brings.push_back({names.threads_x, kStencilThreadsX, writer.has_rows() ? 64 : 128});
    if (writer.has_rows()) proposal.brings.push_back({names.threads_y, kStencilThreadsY, 4});
    if (writer.has_items()) proposal.brings.push_back({names.items, kStencilItems, 4});
    if (writer.has_rows()) proposal.brings.push_back({names.rows, kStencilRows, writer.has_items() ? 1 : 2});
    proposal.brings.push_back({names.steps, kStencilSteps, 16});
    proposal.brings.push_back({names.ahead, kStencilAhead, writer.has_rows() ? 0 : 1});
    if (writer.has_rows())
      proposal.constraints.push_back(
          fmt::format("{0} * {1} >= 64 && {0} * {1} <= 512", names.threads_x, names.threads_y));
    proposal.constraints.push_back(fmt::format("{} <= {}", writer.Registers(), kRegistersOfStencil));
    return proposal;
  }
};

}  // namespace

std::unique_ptr<Mutator> MakeStencilRows() { return std::make_unique<StencilRows>(); }

}  // namespace evo
