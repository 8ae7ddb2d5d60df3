#include "mutators/parallelism/histograms/thread_per_bin.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "kernel_templates/brought_parameters.h"
#include "mutators/analysis/source/counted_loop.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/global_memory.h"
#include "mutators/analysis/source/memory_traffic.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/analysis/source/work_sharing.h"

namespace evo {
namespace {

const std::vector<std::int64_t> kBinCounts{256, 512, 1024, 2048, 4096};
const std::vector<std::int64_t> kBinCopies{1, 2, 4, 8, 16, 32};
const std::vector<std::int64_t> kBinThreads{128, 256, 512, 1024};
const std::vector<std::int64_t> kBinBlocks{8, 16, 33, 66, 132, 264, 528, 1056};
constexpr int kBinSharedBytes = 49152;

// `for (..) if (value == bin) found++;`
struct BinLoop {
  CountedLoop loop;
  int found = -1;  // declaration
  int bin = -1;    // declaration of the thread's number
  int value = -1;  // expression
  ThreadIndex index;
};

// Whether a type is one of integers, bytes among them.
bool IsWhole(const std::string& type) {
  const std::string plain = WithoutConst(type);
  return IsIntegerType(plain) || plain == "char" || plain == "signed char" || plain == "unsigned char";
}

class BinKernel {
 public:
  BinKernel(const MutationContext& context, int kernel)
      : context_(context), tree_(context.tree), kernel_(kernel), written_(WrittenIn(tree_, kernel)) {}

  // Whether a loop counts so; nothing else of the kernel is looked at.
  std::optional<BinLoop> AsBinLoop(int node) const {
    const auto loop = AsCountedLoop(tree_, node);
    const int only = loop ? OnlyStatement(tree_, loop->parts.body) : -1;
    if (only < 0 || !IsInBlock(tree_, node) || loop->step != "1") return std::nullopt;
    BinLoop found{*loop, -1, -1, -1, {}};
    int condition = -1;
    const SyntaxNode& statement = tree_.node(only);
    if (statement.kind_name == "IfStmt" && statement.children.size() == 2) {
      const int counted = OnlyStatement(tree_, statement.children[1]);
      condition = statement.children[0];
      found.found = counted < 0 ? -1 : CountedBy(counted);
    } else if (tree_.Operator(only) == "+=" && statement.children.size() == 2) {
      found.found = NamedDeclaration(tree_, statement.children[0]);
      condition = ConditionOf(statement.children[1]);
    }
    if (found.found < 0 || condition < 0) return std::nullopt;
    condition = WithoutParentheses(tree_, condition);
    const auto& sides = tree_.node(condition).children;
    if (tree_.Operator(condition) != "==" || sides.size() != 2) return std::nullopt;
    for (const std::size_t side : {0, 1}) {
      const int name = NamedDeclaration(tree_, sides[side]);
      if (name < 0 || name == loop->counter || !IsOfThread(name)) continue;
      found.bin = name;
      found.value = sides[1 - side];
    }
    return found.bin < 0 ? std::nullopt : std::optional(found);
  }

  // Why the kernel is left as it is; empty if it is not. Sets the thread's index.
  std::string Understand(BinLoop& found) const {
    const std::string bin = tree_.node(found.bin).name, count = tree_.node(found.found).name;
    const auto indices = ThreadIndices(context_);
    const auto own = std::find_if(indices.begin(), indices.end(),
                                  [&](const ThreadIndex& one) { return one.kernel == kernel_ && one.declaration == found.bin; });
    if (own == indices.end() || own->launch == nullptr || written_.contains(found.bin))
      return fmt::format("that {} is a number of its own for each thread is not clear", bin);
    found.index = *own;
    const SyntaxNode& counted = tree_.node(found.found);
    if (counted.kind_name != "VarDecl" || counted.function != kernel_ || IsMemoryName(tree_, found.found) ||
        !IsIntegerType(counted.type))
      return fmt::format("{} is no integer of a thread", count);
    const auto traffic = TrafficOf(tree_, kernel_);
    if (!IsWhole(tree_.node(found.value).type) || !IsPure(tree_, found.value) || !traffic)
      return fmt::format("{} is no integer that is only read", Quoted(tree_, found.value));
    for (const int part : {found.value, found.loop.start, found.loop.bound}) {
      for (const int name : NamedIn(tree_, part)) {
        const SyntaxNode& declared = tree_.node(name);
        const bool known = name == found.loop.counter || declared.function < 0 || declared.kind_name.starts_with("Function") ||
                           (declared.kind_name == "ParmDecl" && declared.function == kernel_ && !written_.contains(name) &&
                            !traffic->stored.contains(name));
        if (!known) return fmt::format("what it looks at depends on {}", declared.name);
      }
    }
    if (!IsDoneForItsNumber(found)) return "conditions on more than the thread's number decide whether it counts";
    return "";
  }

  Proposal Counted(const BinLoop& found) const {
    std::string taken = tree_.text();
    const auto unused = [&](const char* wanted) {
      std::string name = UnusedName(taken, wanted);
      taken += " " + name;
      return name;
    };
    const std::string values = unused("COUNTS"), copies = unused("COPIES"), threads = unused("THREADS"),
                      blocks = unused("BLOCKS");
    const std::string kernel = unused("count_values"), totals = unused("totals"), kinds = unused("kinds");
    const LaunchDirective& launch = *found.index.launch;
    const std::string number =
        fmt::format("({}) * ({})", launch.grid[found.index.axis].text(), launch.block[found.index.axis].text());
    Proposal proposal;
    std::string parameters, arguments;
    for (const int child : tree_.node(kernel_).children) {
      if (tree_.node(child).kind_name == "ParmDecl") parameters += std::string(tree_.Text(child)) + ", ";
    }
    for (const std::string& argument : launch.arguments) arguments += argument + ", ";
    const CountedLoop& loop = found.loop;
    const std::string &counter = tree_.node(loop.counter).name, array = unused("counts"), value = unused("value");
    const std::string text = fmt::format(
        "// How often each number below `{0}` occurs. A block counts in shared memory, in {1} copies of the first {2} counts.\n"
        "__global__ void {3}({4}unsigned int* {5}, int {0}) {{\n"
        "  __shared__ unsigned int {6}[{2} * {1}];\n"
        "  for (int j = threadIdx.x; j < {2} * {1}; j += {7}) {6}[j] = 0;\n"
        "  __syncthreads();\n"
        "  for ({8} = {9} + (int)(blockIdx.x * {7} + threadIdx.x); {10} {11} {12}; {10} += {7} * {13}) {{\n"
        "    const long long {14} = {15};\n"
        "    if ({14} >= 0 && {14} < {2})\n"
        "      atomicAdd(&{6}[{14} * {1} + threadIdx.x % {1}], 1u);\n"
        "    else if ({14} >= 0 && {14} < {0})\n"
        "      atomicAdd(&{5}[{14}], 1u);\n"
        "  }}\n"
        "  __syncthreads();\n"
        "  for (int j = threadIdx.x; j < {2} && j < {0}; j += {7}) {{\n"
        "    unsigned int sum = 0;\n"
        "    for (int copy = 0; copy < {1}; ++copy) sum += {6}[j * {1} + (copy + j) % {1}];\n"
        "    if (sum != 0) atomicAdd(&{5}[j], sum);\n"
        "  }}\n"
        "}}\n\n",
        kinds, copies, values, kernel, parameters, totals, array, threads, fmt::format("{} {}", CounterType(loop), counter),
        Parenthesised(tree_, loop.start), counter, loop.comparison, tree_.Text(loop.bound), blocks, value,
        tree_.Text(found.value));
    proposal.changes = {{kernel_, Placement::kBefore, text},
                        {LastParameter(tree_, kernel_), Placement::kAfter, fmt::format(", const unsigned int* {}", totals)},
                        {loop.parts.statement, Placement::kReplace,
                         fmt::format("{} += ({}){}[{}];", tree_.node(found.found).name,
                                     WithoutConst(tree_.node(found.found).type), totals, tree_.node(found.bin).name)}};
    if (loop.parts.pragma >= 0) proposal.changes.push_back({loop.parts.pragma, Placement::kReplace, ""});
    proposal.also_anchored = {loop.parts.body};
    proposal.launch = {
        {launch.kernel, "before", fmt::format("workspace {} u32 [{}]", totals, number)},
        {launch.kernel, "before", fmt::format("memset {} 0", totals)},
        {launch.kernel, "before",
         fmt::format("launch {}({}{}, {}) grid({}) block({})", kernel, arguments, totals, number, blocks, threads)},
        {launch.kernel, "arguments", fmt::format("{}{}", arguments, totals)}};
    proposal.brings = {{values, kBinCounts, 256}, {copies, kBinCopies, 8}, {threads, kBinThreads, 256}, {blocks, kBinBlocks, 66}};
    proposal.constraints.push_back(fmt::format("{} * {} * 4 <= {}", values, copies, kBinSharedBytes));
    return proposal;
  }

 private:
  std::string CounterType(const CountedLoop& loop) const { return WithoutConst(tree_.node(loop.counter).type); }

  // Whether a thread goes through all elements if it does not lie outside: they need not exist for others.
  bool IsDoneForItsNumber(const BinLoop& found) const {
    const auto asks_for_it = [&](int node) {
      bool asks = true;
      for (int at = node; at != kernel_; at = tree_.node(at).parent) {
        if (tree_.node(at).kind_name == "IfStmt") asks = asks && NamedIn(tree_, tree_.node(at).children[0]).contains(found.bin);
      }
      return asks;
    };
    for (const int node : Subtree(tree_, kernel_)) {
      const bool leaves = tree_.node(node).kind_name == "ReturnStmt" && node < found.loop.parts.statement;
      if ((leaves || node == found.loop.parts.statement) && !asks_for_it(node)) return false;
    }
    return true;
  }

  // Whether a variable of the kernel is computed from threadIdx.
  bool IsOfThread(int variable) const {
    const SyntaxNode& declared = tree_.node(variable);
    return declared.kind_name == "VarDecl" && declared.function == kernel_ && !declared.children.empty() &&
           tree_.Text(declared.children.back()).find("threadIdx") != std::string_view::npos;
  }

  // What a statement adds 1 to; -1 for others.
  int CountedBy(int statement) const {
    const SyntaxNode& node = tree_.node(statement);
    const std::string_view spelled = tree_.Operator(statement);
    if (node.children.empty()) return -1;
    const bool one = spelled == "++" || (spelled == "+=" && node.children.size() == 2 && tree_.Text(node.children[1]) == "1");
    return one ? NamedDeclaration(tree_, node.children[0]) : -1;
  }

  // The condition of `condition ? 1 : 0`, or the comparison that is added itself; -1 for others.
  int ConditionOf(int added) const {
    added = WithoutParentheses(tree_, added);
    const SyntaxNode& node = tree_.node(added);
    if (node.kind_name != "ConditionalOperator") return added;
    const bool one = node.children.size() == 3 && tree_.Text(WithoutParentheses(tree_, node.children[1])) == "1" &&
                     tree_.Text(WithoutParentheses(tree_, node.children[2])) == "0";
    return one ? node.children[0] : -1;
  }

  const MutationContext& context_;
  const SyntaxTree& tree_;
  int kernel_;
  std::set<int> written_;
};

}  // namespace

std::vector<std::variant<Proposal, std::string>> ThreadsPerBin(const MutationContext& context) {
  const SyntaxTree& tree = context.tree;
  std::vector<std::variant<Proposal, std::string>> all;
  for (const int kernel : Functions(tree)) {
    const SyntaxNode& node = tree.node(kernel);
    if (node.kind_name != "FunctionDecl" || !IsKernel(tree, kernel) || LastParameter(tree, kernel) < 0) continue;
    const BinKernel reader(context, kernel);
    for (const int at : Subtree(tree, kernel)) {
      auto found = tree.node(at).kind_name == "ForStmt" ? reader.AsBinLoop(at) : std::nullopt;
      if (!found) continue;
      if (const std::string why = reader.Understand(*found); !why.empty())
        all.emplace_back(fmt::format("{}: {}", node.name, why));
      else
        all.emplace_back(reader.Counted(*found));
      break;
    }
  }
  return all;
}

}  // namespace evo
