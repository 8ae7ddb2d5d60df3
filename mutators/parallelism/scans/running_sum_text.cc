#include "mutators/parallelism/scans/running_sum_text.h"

#include <fmt/format.h>

#include <sstream>

#include "mutators/analysis/source/accumulation_update.h"
#include "mutators/analysis/source/source_query.h"

namespace evo {
namespace {

// The indentation of the loop, its body and the body's loops, and what the text names.
struct RunningSumNames {
  std::string outer, in, deep;
  std::string type, sum, condition, lane;
  std::string first, sums, item, before, running, partials;
};

class RunningSumWriter {
 public:
  RunningSumWriter(const SyntaxTree& tree, const SharedLoop& loop, const RowThreads& threads, std::string items, bool in_block)
      : tree_(tree),
        loop_(loop.counted),
        found_(*loop.running),
        threads_(threads),
        items_(std::move(items)),
        in_block_(in_block) {
    names_.outer = IndentOf(tree, loop_.parts.statement);
    names_.in = names_.outer + "  ";
    names_.deep = names_.in + "  ";
    const SyntaxNode& sum = tree.node(found_.sum);
    names_.type = sum.type;
    names_.sum = sum.name;
    names_.first = FreshName(tree, "first");
    names_.sums = FreshName(tree, "sums");
    names_.item = FreshName(tree, "item");
    names_.before = FreshName(tree, "before");
    names_.running = FreshName(tree, "running");
    names_.partials = FreshName(tree, "warp_sums");
    names_.condition = tree.Text(loop_.parts.condition);
    names_.lane = in_block ? fmt::format("{} % 32", threads.name) : threads.name;
  }

  std::string Text() const {
    const std::string declared = With(CounterDeclaration(tree_, loop_), tree_.node(loop_.counter).name, names_.first);
    const std::string stride = Times(1, fmt::format("{} * {}", threads_.count, items_));
    std::string text = fmt::format("for ({} = {}; {} {} {}; {} += {}{}) {{\n", declared, tree_.Text(loop_.start), names_.first,
                                   loop_.comparison, tree_.Text(loop_.bound), names_.first, stride, Steps());
    if (in_block_) text += fmt::format("{}__shared__ {} {}[{}][32];\n", names_.in, names_.type, names_.partials, items_);
    text += fmt::format("{}{} {}[{}];\n", names_.in, names_.type, names_.sums, items_) + Terms() + Scans();
    if (in_block_) text += fmt::format("{}__syncthreads();\n", names_.in);
    text += Stores();
    if (in_block_) text += fmt::format("{}__syncthreads();\n", names_.in);
    return text + names_.outer + "}";
  }

 private:
  static std::string With(std::string text, const std::string& old, const std::string& fresh) {
    return text.replace(text.rfind(old), old.size(), fresh);
  }
  std::string Steps() const { return loop_.step == "1" ? "" : " * " + loop_.step; }

  std::string ItemHead(bool with_counter) const {
    std::string head = fmt::format("#pragma unroll\n{0}for (int {1} = 0; {1} < {2}; ++{1}) {{\n", names_.in, names_.item, items_);
    if (!with_counter) return head;
    const std::string place = fmt::format("{} * {} + {}", names_.item, threads_.count, threads_.name);
    return head + fmt::format("{}const {} = {} + {};\n", names_.deep, CounterDeclaration(tree_, loop_), names_.first,
                              loop_.step == "1" ? place : fmt::format("({}){}", place, Steps()));
  }
  std::string Own() const { return fmt::format("{}[{}]", names_.sums, names_.item); }

  // Each thread's terms, so that all of them are read before they are needed.
  std::string Terms() const {
    std::string text = ItemHead(true) + fmt::format("{}{} = 0;\n", names_.deep, Own());
    if (found_.statements.empty()) {
      text += fmt::format("{}if ({}) {} = {};\n", names_.deep, names_.condition, Own(), tree_.Text(found_.term));
    } else {
      text += fmt::format("{}if ({}) {{\n", names_.deep, names_.condition);
      for (const int statement : found_.statements) text += fmt::format("{}  {}\n", names_.deep, tree_.Text(statement));
      text += fmt::format("{0}  {1} = {2};\n{0}}}\n", names_.deep, Own(), tree_.Text(found_.term));
    }
    return text + names_.in + "}\n";
  }

  // The sums over the lanes up to a thread's own.
  std::string Scans() const {
    const std::string offset = FreshName(tree_, "offset"), left = FreshName(tree_, "left");
    std::string text = ItemHead(false) + fmt::format("{0}for (int {1} = 1; {1} < 32; {1} *= 2) {{\n", names_.deep, offset);
    text +=
        fmt::format("{}  const {} {} = __shfl_up_sync(0xffffffffu, {}, {});\n", names_.deep, names_.type, left, Own(), offset);
    text += fmt::format("{0}  if ({1} >= {2}) {3} += {4};\n{0}}}\n", names_.deep, names_.lane, offset, Own(), left);
    if (in_block_)
      text += fmt::format("{}if ({} == 31) {}[{}][{} / 32] = {};\n", names_.deep, names_.lane, names_.partials, names_.item,
                          threads_.name, Own());
    return text + names_.in + "}\n";
  }

  // The loop's body for each of a thread's elements, and the sum of the whole tile.
  std::string Stores() const {
    std::string text = ItemHead(true), base = names_.sum;
    if (in_block_) {
      base = FreshName(tree_, "base");
      const std::string warp = FreshName(tree_, "warp");
      text += fmt::format("{0}{1} {2} = {3};\n", names_.deep, names_.type, base, names_.sum);
      text += fmt::format("{0}for (int {1} = 0; {1} < {2} / 32; ++{1}) {{\n", names_.deep, warp, threads_.count);
      text += fmt::format("{0}  if ({1} == {2} / 32) {3} = {4};\n{0}  {4} += {5}[{6}][{1}];\n{0}}}\n", names_.deep, warp,
                          threads_.name, base, names_.sum, names_.partials, names_.item);
    }
    if (found_.exclusive) {
      text += fmt::format("{}{} {} = __shfl_up_sync(0xffffffffu, {}, 1);\n", names_.deep, names_.type, names_.before, Own());
      text += fmt::format("{}if ({} == 0) {} = 0;\n", names_.deep, names_.lane, names_.before);
    }
    return text + Body(base) +
           (in_block_ ? "" : fmt::format("{}{} += __shfl_sync(0xffffffffu, {}, 31);\n", names_.deep, names_.sum, Own())) +
           names_.in + "}\n";
  }

  std::string Body(const std::string& base) const {
    const std::string constant = found_.exclusive && found_.inclusive ? "" : "const ";
    std::string text = fmt::format("{}if ({}) {{\n", names_.deep, names_.condition);
    if (found_.exclusive)
      text += fmt::format("{}  {}{} {} = {} + {};\n", names_.deep, constant, names_.type, names_.running, base, names_.before);
    std::string update = fmt::format("{} = {} + {};", names_.running, base, Own());
    if (!found_.exclusive) update = fmt::format("{}{} {}", constant, names_.type, update);
    if (!found_.inclusive) update.clear();
    Replacements replacements = UsesAs(tree_, found_.sum, loop_.parts.body, names_.running);
    replacements.emplace_back(found_.update, update);
    std::istringstream lines(Lines(tree_, loop_.parts.body, names_.deep + "  ", replacements));
    for (std::string line; std::getline(lines, line);) {
      if (line.find_first_not_of(' ') != std::string::npos) text += line + "\n";
    }
    return text + names_.deep + "}\n";
  }

  const SyntaxTree& tree_;
  const CountedLoop& loop_;
  const RunningSum& found_;
  const RowThreads& threads_;
  std::string items_;
  bool in_block_;
  RunningSumNames names_;
};

}  // namespace

std::string RunningSumText(const SyntaxTree& tree, const SharedLoop& loop, const RowThreads& threads, const std::string& items,
                           bool in_block) {
  return RunningSumWriter(tree, loop, threads, items, in_block).Text();
}

}  // namespace evo
