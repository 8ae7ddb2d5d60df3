#include <algorithm>
#include <memory>
#include <set>

#include "mutators/analysis/attention/attention_runs.h"
#include "mutators/analysis/source/constant_value.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/analysis/thread_runs/thread_block.h"

namespace evo {
namespace {

constexpr std::int64_t kMostThreadsOfBlock = 1024;
// Blocks along an axis that are looked at for rows.
constexpr std::int64_t kBlocksOfRows = 3;

// Integers of a kernel that only their initialisers write.
std::vector<int> RowVariables(const SyntaxTree& tree, int kernel) {
  std::vector<int> variables;
  const std::set<int> written = WrittenIn(tree, kernel);
  for (const int node : Subtree(tree, kernel)) {
    const SyntaxNode& variable = tree.node(node);
    const std::string type = WithoutConst(variable.type);
    if (variable.kind_name != "VarDecl" || variable.children.empty() || !IsArithmetic(type) || type == "float" ||
        type == "double")
      continue;
    if (!written.contains(node) && !IsMemoryName(tree, node)) variables.push_back(node);
  }
  return variables;
}

// `row % length`, with a length of parameters and numbers.
FormPointer FlatLengthOf(const SyntaxTree& tree, int kernel, int row) {
  for (const int node : Subtree(tree, kernel)) {
    if (tree.Operator(node) != "%" || tree.node(node).children.size() != 2) continue;
    const auto& sides = tree.node(node).children;
    if (NamedDeclaration(tree, sides[0]) != row) continue;
    const auto form = AffineFormOf(tree, sides[1], {});
    if (!form || form->terms().size() != 1) continue;
    const auto symbols = form->Symbols();
    if (std::all_of(symbols.begin(), symbols.end(),
                    [&](int symbol) { return symbol >= 0 && tree.node(symbol).kind_name == "ParmDecl"; }))
      return SharedForm(*form);
  }
  return nullptr;
}

// Of each thread, a row of its own.
void AddOwnRows(const MutationContext& context, const LaunchDirective& launch, int kernel, std::vector<RowIndex>& rows) {
  const SyntaxTree& tree = context.tree;
  for (const int node : RowVariables(tree, kernel)) {
    const auto form = AffineFormOf(tree, tree.node(node).children.back(), {});
    if (!form) continue;
    for (std::size_t axis = 0; axis < launch.grid.size(); ++axis) {
      for (std::size_t of_block = 0; of_block < launch.block.size(); ++of_block) {
        const AffineForm thread = AffineForm::Symbol(BuiltinSymbol("threadIdx", of_block));
        const AffineForm block = AffineForm::Symbol(BuiltinSymbol("blockIdx", axis));
        const auto size = ConstantValue(tree, launch.block[of_block].text());
        if (!(*form == thread.Plus(block.TimesForm(AffineForm::Symbol(BuiltinSymbol("blockDim", of_block))))) &&
            !(size && *form == thread.Plus(block.TimesForm(AffineForm::Constant(*size)))))
          continue;
        RowIndex row;
        row.declaration = node, row.axis = axis, row.block_axis = of_block;
        if (launch.grid.size() == 1 && launch.block.size() == 1) row.flat_length = FlatLengthOf(tree, kernel, node);
        rows.push_back(std::move(row));
      }
    }
  }
}

// Of a thread that runs alone, up to where it would wait for others.
class NoMeeting : public ThreadMeeting {
  bool MeetBlock(std::size_t) override { return false; }
  bool MeetWarp(std::size_t, std::uint32_t) override { return false; }
};

// What a variable is in each thread of a block, by running the kernel up to its declaration; empty if it is no number.
std::vector<std::int64_t> ValuesIn(ThreadRun& run, const SyntaxTree& tree, int variable, const RowIndex& row,
                                   std::int64_t block) {
  std::vector<std::int64_t> values;
  ThreadSetting setting;
  std::int64_t size = 41;
  for (const int child : tree.node(tree.node(variable).function).children) {
    if (tree.node(child).kind_name == "ParmDecl" && IsArithmetic(WithoutConst(tree.node(child).type)))
      setting.integers[child] = size += 6;
  }
  setting.symbolic = false;
  setting.stops = true;
  setting.watched = tree.node(variable).parent;
  setting.noted = {variable};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    setting.builtins[BuiltinSymbol("blockIdx", axis)] = axis == row.axis ? block : 7 * static_cast<std::int64_t>(axis + 1);
    setting.builtins[BuiltinSymbol("gridDim", axis)] = 29;
    setting.builtins[BuiltinSymbol("blockDim", axis)] = axis < row.block.size() ? row.block[axis] : 1;
  }
  for (std::size_t i = 0; i < row.shared_rows.size(); ++i) {
    auto number = static_cast<std::int64_t>(i);
    for (std::size_t axis = 0; axis < row.block.size(); ++axis) {
      setting.builtins[BuiltinSymbol("threadIdx", axis)] = number % row.block[axis];
      number /= row.block[axis];
    }
    NoMeeting alone;
    ThreadExchange exchange{&alone, {}, std::vector<StoredValues>(1), std::vector<std::vector<ThreadValue>>(1)};
    setting.exchange = &exchange;  // so that it knows of shared memory
    const ThreadTrace trace = run.Run(setting);
    const auto value = trace.after.values.find(variable);
    if (value == trace.after.values.end() || value->second.kind != ThreadValue::Kind::kInteger) return {};
    values.push_back(value->second.integer);
  }
  return values;
}

// Threads share rows if a variable is `blockIdx * rows + row of the block` in all of them.
void AddSharedRows(const MutationContext& context, const LaunchDirective& launch, int kernel, std::vector<RowIndex>& rows) {
  const SyntaxTree& tree = context.tree;
  RowIndex row;
  std::int64_t threads = 1;
  for (const Expression& dimension : launch.block) {
    const auto size = ConstantValue(tree, dimension.text());
    if (!size || *size <= 0 || *size > kMostThreadsOfBlock) return;
    row.block.push_back(*size);
    threads *= *size;
  }
  if (threads > kMostThreadsOfBlock) return;
  row.shared_rows.resize(static_cast<std::size_t>(threads));
  ThreadRun run(context, kernel, -1);
  std::set<std::size_t> of_blocks;
  for (const int variable : RowVariables(tree, kernel)) {
    for (row.axis = 0; row.axis < launch.grid.size(); ++row.axis) {
      row.declaration = variable;
      const auto first = ValuesIn(run, tree, variable, row, 0);
      if (first.empty()) break;
      const auto [least, most] = std::minmax_element(first.begin(), first.end());
      if (*least != 0) continue;
      row.extent = *most + 1;
      bool is = std::set<std::int64_t>(first.begin(), first.end()).size() == static_cast<std::size_t>(row.extent);
      for (std::int64_t block = 1; is && block < kBlocksOfRows; ++block) {
        const auto values = ValuesIn(run, tree, variable, row, block);
        for (std::size_t i = 0; i < values.size(); ++i) is = is && values[i] == first[i] + block * row.extent;
      }
      if (!is) continue;
      if (row.extent == 1) of_blocks.insert(row.axis);
      row.shared_rows = first;
      rows.push_back(row);
    }
  }
  // A block has one row, its own number.
  for (row.axis = 0; row.axis < launch.grid.size(); ++row.axis) {
    if (of_blocks.contains(row.axis)) continue;
    row.declaration = -1;
    row.extent = 1;
    std::fill(row.shared_rows.begin(), row.shared_rows.end(), 0);
    rows.push_back(row);
  }
}

}  // namespace

std::vector<RowIndex> RowIndicesOf(const MutationContext& context, const LaunchDirective& launch, int kernel) {
  std::vector<RowIndex> rows;
  if (!NeedsBlock(context.tree, kernel)) AddOwnRows(context, launch, kernel, rows);
  if (rows.empty()) AddSharedRows(context, launch, kernel, rows);
  return rows;
}

}  // namespace evo
