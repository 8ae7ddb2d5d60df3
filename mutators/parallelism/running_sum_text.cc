#include "mutators/parallelism/running_sum_text.h"

#include <fmt/format.h>

#include <sstream>

#include "mutators/analysis/accumulation_update.h"
#include "mutators/analysis/source_query.h"

namespace evo {
namespace {

class RunningSumWriter {
 public:
  RunningSumWriter(const SyntaxTree& tree, const SharedLoop& loop, const RowThreads& threads, std::string items, bool in_block)
      : tree_(tree),
        loop_(loop.counted),
        found_(*loop.running),
        threads_(threads),
        items_(std::move(items)),
        in_block_(in_block) {
    outer_ = IndentOf(tree, loop_.parts.statement);
    in_ = outer_ + "  ";
    deep_ = in_ + "  ";
    const SyntaxNode& sum = tree.node(found_.sum);
    type_ = sum.type;
    sum_ = sum.name;
    first_ = FreshName(tree, "first");
    sums_ = FreshName(tree, "sums");
    item_ = FreshName(tree, "item");
    before_ = FreshName(tree, "before");
    running_ = FreshName(tree, "running");
    partials_ = FreshName(tree, "warp_sums");
    counter_ = tree.node(loop_.counter).name;
    condition_ = tree.Text(loop_.parts.condition);
    lane_ = in_block ? fmt::format("{} % 32", threads.name) : threads.name;
  }

  std::string Text() const {
    const std::string declared = With(CounterDeclaration(tree_, loop_), counter_, first_);
    const std::string stride = Times(1, fmt::format("{} * {}", threads_.count, items_));
    std::string text = fmt::format("for ({} = {}; {} {} {}; {} += {}{}) {{\n", declared, tree_.Text(loop_.start), first_,
                                   loop_.comparison, tree_.Text(loop_.bound), first_, stride, Steps());
    if (in_block_) text += fmt::format("{}__shared__ {} {}[{}][32];\n", in_, type_, partials_, items_);
    text += fmt::format("{}{} {}[{}];\n", in_, type_, sums_, items_) + Terms() + Scans();
    if (in_block_) text += fmt::format("{}__syncthreads();\n", in_);
    text += Stores();
    if (in_block_) text += fmt::format("{}__syncthreads();\n", in_);
    return text + outer_ + "}";
  }

 private:
  static std::string With(std::string text, const std::string& old, const std::string& fresh) {
    return text.replace(text.rfind(old), old.size(), fresh);
  }
  std::string Steps() const { return loop_.step == "1" ? "" : " * " + loop_.step; }

  std::string ItemHead(bool with_counter) const {
    std::string head = fmt::format("#pragma unroll\n{0}for (int {1} = 0; {1} < {2}; ++{1}) {{\n", in_, item_, items_);
    if (!with_counter) return head;
    const std::string place = fmt::format("{} * {} + {}", item_, threads_.count, threads_.name);
    return head + fmt::format("{}const {} = {} + {};\n", deep_, CounterDeclaration(tree_, loop_), first_,
                              loop_.step == "1" ? place : fmt::format("({}){}", place, Steps()));
  }
  std::string Own() const { return fmt::format("{}[{}]", sums_, item_); }

  // Each thread's terms, so that all of them are read before they are needed.
  std::string Terms() const {
    std::string text = ItemHead(true) + fmt::format("{}{} = 0;\n", deep_, Own());
    if (found_.statements.empty()) {
      text += fmt::format("{}if ({}) {} = {};\n", deep_, condition_, Own(), tree_.Text(found_.term));
    } else {
      text += fmt::format("{}if ({}) {{\n", deep_, condition_);
      for (const int statement : found_.statements) text += fmt::format("{}  {}\n", deep_, tree_.Text(statement));
      text += fmt::format("{0}  {1} = {2};\n{0}}}\n", deep_, Own(), tree_.Text(found_.term));
    }
    return text + in_ + "}\n";
  }

  // The sums over the lanes up to a thread's own.
  std::string Scans() const {
    const std::string offset = FreshName(tree_, "offset"), left = FreshName(tree_, "left");
    std::string text = ItemHead(false) + fmt::format("{0}for (int {1} = 1; {1} < 32; {1} *= 2) {{\n", deep_, offset);
    text += fmt::format("{}  const {} {} = __shfl_up_sync(0xffffffffu, {}, {});\n", deep_, type_, left, Own(), offset);
    text += fmt::format("{0}  if ({1} >= {2}) {3} += {4};\n{0}}}\n", deep_, lane_, offset, Own(), left);
    if (in_block_)
      text += fmt::format("{}if ({} == 31) {}[{}][{} / 32] = {};\n", deep_, lane_, partials_, item_, threads_.name, Own());
    return text + in_ + "}\n";
  }

  // The loop's body for each of a thread's elements, and the sum of the whole tile.
  std::string Stores() const {
    std::string text = ItemHead(true), base = sum_;
    if (in_block_) {
      base = FreshName(tree_, "base");
      const std::string warp = FreshName(tree_, "warp");
      text += fmt::format("{0}{1} {2} = {3};\n", deep_, type_, base, sum_);
      text += fmt::format("{0}for (int {1} = 0; {1} < {2} / 32; ++{1}) {{\n", deep_, warp, threads_.count);
      text += fmt::format("{0}  if ({1} == {2} / 32) {3} = {4};\n{0}  {4} += {5}[{6}][{1}];\n{0}}}\n", deep_, warp, threads_.name,
                          base, sum_, partials_, item_);
    }
    if (found_.exclusive) {
      text += fmt::format("{}{} {} = __shfl_up_sync(0xffffffffu, {}, 1);\n", deep_, type_, before_, Own());
      text += fmt::format("{}if ({} == 0) {} = 0;\n", deep_, lane_, before_);
    }
    return text + Body(base) + (in_block_ ? "" : fmt::format("{}{} += __shfl_sync(0xffffffffu, {}, 31);\n", deep_, sum_, Own())) +
           in_ + "}\n";
  }

  std::string Body(const std::string& base) const {
    const std::string constant = found_.exclusive && found_.inclusive ? "" : "const ";
    std::string text = fmt::format("{}if ({}) {{\n", deep_, condition_);
    if (found_.exclusive) text += fmt::format("{}  {}{} {} = {} + {};\n", deep_, constant, type_, running_, base, before_);
    std::string update = fmt::format("{} = {} + {};", running_, base, Own());
    if (!found_.exclusive) update = fmt::format("{}{} {}", constant, type_, update);
    if (!found_.inclusive) update.clear();
    Replacements replacements = UsesAs(tree_, found_.sum, loop_.parts.body, running_);
    replacements.emplace_back(found_.update, update);
    std::istringstream lines(Lines(tree_, loop_.parts.body, deep_ + "  ", replacements));
    for (std::string line; std::getline(lines, line);) {
      if (line.find_first_not_of(' ') != std::string::npos) text += line + "\n";
    }
    return text + deep_ + "}\n";
  }

  const SyntaxTree& tree_;
  const CountedLoop& loop_;
  const RunningSum& found_;
  const RowThreads& threads_;
  std::string items_;
  bool in_block_;
  std::string outer_, in_, deep_;
  std::string type_, sum_, first_, sums_, item_, before_, running_, partials_, counter_, condition_, lane_;
};

}  // namespace

std::string RunningSumText(const SyntaxTree& tree, const SharedLoop& loop, const RowThreads& threads, const std::string& items,
                           bool in_block) {
  return RunningSumWriter(tree, loop, threads, items, in_block).Text();
}

}  // namespace evo
