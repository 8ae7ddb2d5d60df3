#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "kernel_templates/brought_parameters.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/analysis/source/work_sharing.h"
#include "mutators/analysis/stencils/window_loops.h"
#include "mutators/analysis/stencils/window_sums.h"
#include "mutators/parallelism/kernel_visitor.h"
#include "mutators/parallelism/stencils/stencil_text.h"

namespace evo {
namespace {

// The sizes that are searched, and what a search begins with.
const std::vector<std::int64_t> kWindowThreadsX{16, 32, 64, 128};
const std::vector<std::int64_t> kWindowThreadsY{1, 2, 4, 8, 16};
const std::vector<std::int64_t> kWindowRows{1, 2, 4, 8};
constexpr std::int64_t kStartThreadsX = 32, kStartThreadsY = 8, kStartRows = 4;
constexpr int kBytesOfWindow = 49152;
// Rows of a window that a size of the task decides: more are rare.
constexpr std::int64_t kMostWindowRows = 33;

struct WindowParameters {
  std::string threads_x, threads_y, rows;
};

// Writes the kernel whose threads share the sums of rows.
class WindowWriter {
 public:
  WindowWriter(const MutationContext& context, const WindowSums& found, WindowParameters parameters)
      : tree_(context.tree), found_(found), parameters_(std::move(parameters)) {}

  std::string Body() const {
    const std::string all = fmt::format("{} * {}", parameters_.threads_y, parameters_.rows);
    const auto name = [&](const char* wanted) { return UnusedName(tree_.text(), wanted); };
    const std::string memory = name("row_sums"), window = name("window"), rows = name("tile_rows"), first = name("first_row"),
                      r = name("r");
    std::string text = fmt::format(
        "// What each row of a window adds up to is computed once in a block, for all elements of a column that need it.\n"
        "extern __shared__ int {}[];\n"
        "const int {} = {};\n"
        "const int {} = {} + {} - 1;\n",
        memory, window, found_.window, rows, all, window);
    for (std::size_t i = 0; i < found_.sums.size(); ++i) {
      const std::string type = WithoutConst(tree_.node(found_.sums[i]).type);
      const std::string from =
          i == 0 ? memory
                 : fmt::format("{} + {}{} * {}", memory, i == 1 ? "" : fmt::format("{} * ", i), rows, parameters_.threads_x);
      text += type == "int" ? fmt::format("int* {} = {};\n", OfRows(i), from)
                            : fmt::format("{0}* {1} = reinterpret_cast<{0}*>({2});\n", type, OfRows(i), from);
    }
    text += Declared(found_.Column(), fmt::format("blockIdx.x * {} + threadIdx.x", parameters_.threads_x));
    text += fmt::format("const int {} = blockIdx.y * ({});\n", first, all);
    for (const int statement : found_.common) text += Statement(statement, "");
    text += SharedSums(r, rows, window, first);
    text += "__syncthreads();\n";
    text += fmt::format("if ({}) return;\n", Beyond(found_.Column()));
    text += fmt::format("for (int {0} = threadIdx.y; {0} < {1}; {0} += {2}) {{\n", r, all, parameters_.threads_y);
    text += "  " + Declared(found_.Row(), fmt::format("{} + {}", first, r));
    text += fmt::format("  if ({}) return;\n", Beyond(found_.Row()));
    for (const int statement : found_.of_row) text += Statement(statement, "  ");
    text += fmt::format("  {} {{\n", LoopHeader());
    for (std::size_t i = 0; i < found_.sums.size(); ++i)
      text += fmt::format("    {} += {}[({} + {}{}) * {} + threadIdx.x];\n", tree_.node(found_.sums[i]).name, OfRows(i), r,
                          Counter(), found_.LessStart(tree_), parameters_.threads_x);
    text += "  }\n";
    for (const int statement : found_.after) text += Statement(statement, "  ");
    return StencilText::Finished(tree_, "{\n" + StencilText::Indented(text + "}\n") + "}");
  }

  // As the launch line says it.
  std::string SharedBytes(const std::string& window) const {
    return fmt::format("{} * ({} * {} + {} - 1) * {} * 4", found_.sums.size(), parameters_.threads_y, parameters_.rows, window,
                       parameters_.threads_x);
  }

 private:
  std::string OfRows(std::size_t sum) const {
    return UnusedName(tree_.text(), fmt::format("rows_of_{}", tree_.node(found_.sums[sum]).name));
  }
  const std::string& Counter() const { return tree_.node(found_.loop.counter).name; }
  std::string LoopHeader() const {
    const SourceRange whole = tree_.node(found_.loop.parts.statement).range;
    std::string header(tree_.Text({whole.begin, tree_.node(found_.loop.parts.body).range.begin}));
    header.erase(header.find_last_not_of(" \n\t") + 1);
    return header;
  }
  // A thread's index, declared as in the source with another value.
  std::string Declared(const ElementGrid::Index& index, const std::string& value) const {
    const SyntaxNode& declared = tree_.node(index.declaration);
    return fmt::format("const {} {} = {};\n", WithoutConst(declared.type), declared.name, value);
  }
  std::string Beyond(const ElementGrid::Index& index) const {
    return fmt::format("{} >= {}", tree_.node(index.declaration).name, Parenthesised(tree_, index.bound));
  }
  Replacements Third() const {
    Replacements replacements;
    for (const int use : found_.third) replacements.emplace_back(use, "blockIdx.z");
    return replacements;
  }
  std::string Statement(int statement, const std::string& indent) const {
    std::string lines = Lines(tree_, statement, indent, Third());
    return lines.substr(0, lines.find_last_not_of('\n') + 1) + "\n";
  }

  // The sums of each row, by the first element of the block whose window has the row.
  std::string SharedSums(const std::string& r, const std::string& rows, const std::string& window,
                         const std::string& first) const {
    const std::string& row = tree_.node(found_.Row().declaration).name;
    std::string text = fmt::format("for (int {0} = threadIdx.y; {0} < {1}; {0} += {2}) {{\n", r, rows, parameters_.threads_y);
    text += "  " + Declared(found_.Row(), fmt::format("{} + max({} - ({} - 1), 0)", first, r, window));
    text += fmt::format("  if ({} || {}) continue;\n", Beyond(found_.Row()), Beyond(found_.Column()));
    text += fmt::format("  const int {} = {} + {} - ({}{});\n", Counter(), first, r, row, found_.LessStart(tree_));
    for (const int sum : found_.sums)
      text += fmt::format("  {} {} = 0;\n", WithoutConst(tree_.node(sum).type), tree_.node(sum).name);
    // A `continue` of the loop over rows ends the row.
    const bool jumps = JumpsOut(tree_, found_.loop.parts.body);
    if (jumps) text += "  do {\n";
    const std::string lines = Lines(tree_, found_.loop.parts.body, jumps ? "    " : "  ", Third());
    text += lines.substr(0, lines.find_last_not_of('\n') + 1) + "\n";
    if (jumps) text += "  } while (false);\n";
    for (std::size_t i = 0; i < found_.sums.size(); ++i)
      text += fmt::format("  {}[{} * {} + threadIdx.x] = {};\n", OfRows(i), r, parameters_.threads_x,
                          tree_.node(found_.sums[i]).name);
    return text + "}\n";
  }

  const SyntaxTree& tree_;
  const WindowSums& found_;
  const WindowParameters parameters_;
};

// Sums over windows around each element, one thread an element, become sums of rows in shared memory that all elements of a
// column add up.
class WindowRowSums : public KernelVisitor {
 public:
  std::string_view name() const override { return "window_row_sums"; }
  // The terms of a row are added to each other first.
  Promise promise() const override { return Promise::kReassociating; }
  std::string_view description() const override {
    return "computes what each row of a window adds up to once in a block, in shared memory, with threads and rows as parameters";
  }
  double weight() const override { return 3; }

 private:
  Restate restate() const override { return WithFixedWindows; }

  void Visit(const MutationContext& context, const Propose& propose, const Refuse& refuse) const override {
    VisitRecognised(context, refuse, AsWindowSums,
                    [&](const WindowSums& found, const Refuse&) { propose(Shared(context, found)); });
  }

  static Proposal Shared(const MutationContext& context, const WindowSums& found) {
    const SyntaxTree& tree = context.tree;
    const auto unused = [&](const char* wanted) { return UnusedName(tree.text(), wanted); };
    const WindowParameters names{unused("THREADS_X"), unused("THREADS_Y"), unused("ROWS")};
    const WindowWriter writer(context, found, names);
    const LaunchDirective& launch = *found.grid.launch;
    Proposal proposal;
    proposal.changes.push_back({tree.node(found.grid.kernel).children.back(), Placement::kReplace, writer.Body()});
    const auto blocks = [&](std::size_t axis, const std::string& size) {
      const std::string &grid = launch.grid[axis].text(), &block = launch.block[axis].text();
      return BlocksOf(launch.grid[axis], block, size, fmt::format("ceil_div(({}) * ({}), {})", grid, block, size));
    };
    std::string grid = fmt::format("{}, {}", blocks(0, names.threads_x), blocks(1, names.threads_y + " * " + names.rows));
    if (!found.third.empty())
      grid += ", " + launch.block[2].text();
    else if (launch.grid.size() > 2)
      grid += ", " + launch.grid[2].text();
    proposal.launch = {{launch.kernel, "grid", grid},
                       {launch.kernel, "block", fmt::format("{}, {}", names.threads_x, names.threads_y)},
                       {launch.kernel, "shared", writer.SharedBytes(Parenthesised(found.launched))}};
    proposal.brings = {{names.threads_x, kWindowThreadsX, kStartThreadsX},
                       {names.threads_y, kWindowThreadsY, kStartThreadsY},
                       {names.rows, kWindowRows, kStartRows}};
    const std::string window = std::to_string(found.rows.value_or(kMostWindowRows));
    proposal.constraints = {fmt::format("{0} * {1} >= 32 && {0} * {1} <= 1024", names.threads_x, names.threads_y),
                            fmt::format("{} <= {}", writer.SharedBytes(window), kBytesOfWindow)};
    proposal.parameters = found.parameters;
    return proposal;
  }
};

}  // namespace

std::unique_ptr<Mutator> MakeWindowRowSums() { return std::make_unique<WindowRowSums>(); }

}  // namespace evo
