#include "mutators/analysis/attention_chain.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "kernel_templates/brought_parameters.h"
#include "mutators/analysis/attention_chain_runs.h"
#include "mutators/analysis/attention_check.h"
#include "mutators/analysis/attention_depth.h"
#include "mutators/analysis/constant_value.h"
#include "mutators/analysis/source_query.h"

namespace evo {
namespace {

// Sizes of the first runs: no two of a run are the same, so that the numbers of elements tell which sizes a matrix has.
constexpr std::array<std::array<std::int64_t, 4>, 2> kChainSizes{{{2, 3, 5, 7}, {3, 5, 4, 2}}};
// Products of a run: more take too long.
constexpr std::int64_t kMostChainProducts = 3'000'000;

using ChainSizes = LaunchRuns::Sizes;

std::string PointeeOf(const SyntaxNode& parameter) {
  std::string type = WithoutConst(parameter.type.substr(0, parameter.type.find('*')));
  while (!type.empty() && type.back() == ' ') type.pop_back();
  return type;
}

class ChainFinder {
 public:
  explicit ChainFinder(const MutationContext& context) : context_(context), tree_(context.tree), runs_(context) {}

  std::optional<AttentionChain> Find(std::string& why) {
    if (!runs_.Find() || runs_.names().size() > kChainSizes[0].size()) return std::nullopt;
    found_.kernel = runs_.links().back().kernel;
    for (const ChainRuns::Link& link : runs_.links()) {
      if (link.kernel != found_.kernel) found_.others.push_back(link.launch->kernel);
    }
    if (!RunFirst()) return std::nullopt;
    if (!FindShapes() || !RunOthers() || !RunUnweighted()) return why = why_.empty() ? runs_.why() : why_, std::nullopt;
    found_.largest_number = first_.knowledge.largest_number;
    return found_;
  }

 private:
  bool Refuse(std::string why) {
    why_ = std::move(why);
    return false;
  }

  ChainSizes SizesOf(std::size_t number) const {
    ChainSizes sizes;
    for (std::size_t i = 0; i < runs_.names().size(); ++i) sizes[runs_.names()[i]] = kChainSizes[number][i];
    return sizes;
  }

  bool RunFirst() {
    if (!runs_.Run(SizesOf(0), first_)) return false;
    if (!first_.knowledge.exponential || first_.read.size() != 3) return false;
    std::vector<std::string> outputs;
    for (const auto& [buffer, elements] : first_.stored) {
      if (!runs_.IsWorkspace(buffer)) outputs.push_back(buffer);
    }
    if (outputs.size() != 1) return false;
    found_.o = outputs.front();
    return true;
  }

  static std::string Product(const std::vector<std::string>& names) {
    return names.empty() ? "1" : fmt::format("{}", fmt::join(names, " * "));
  }
  static std::int64_t ProductOf(const std::vector<std::string>& names, const ChainSizes& sizes) {
    std::int64_t product = 1;
    for (const std::string& name : names) product *= sizes.at(name);
    return product;
  }

  // The sizes with which the first run is an attention: which one is that of the keys, whether there are as many rows, or one,
  // and which are those of the heads.
  bool FindShapes() {
    for (const std::string& keys : runs_.names()) {
      for (const std::string& rows : RowNames()) {
        std::vector<std::string> others;
        for (const std::string& name : runs_.names()) {
          if (name != keys && name != rows) others.push_back(name);
        }
        for (std::size_t chosen = 0; chosen < std::size_t{1} << others.size(); ++chosen) {
          heads_.clear();
          for (std::size_t i = 0; i < others.size(); ++i) {
            if ((chosen >> i & 1) != 0) heads_.push_back(others[i]);
          }
          found_.keys = keys, found_.rows = rows, found_.heads = Product(heads_);
          if (FindBuffers()) return true;
        }
      }
    }
    return Refuse("what its kernels leave is not softmax(scale * query * key) * value with matrices of heads, rows and columns");
  }

  std::vector<std::string> RowNames() const {
    std::vector<std::string> rows = runs_.names();
    rows.emplace_back();
    return rows;
  }

  bool FindBuffers() {
    const ChainSizes sizes = SizesOf(0);
    const std::int64_t heads = ProductOf(heads_, sizes), keys = sizes.at(found_.keys);
    const std::int64_t rows = found_.rows.empty() ? 1 : sizes.at(found_.rows);
    const auto elements = static_cast<std::int64_t>(first_.stored.at(found_.o).size());
    if (elements % (heads * rows) != 0) return false;
    found_.depth = elements / (heads * rows);
    std::vector<std::string> buffers;
    for (const auto& [name, contents] : first_.read) buffers.push_back(name);
    std::sort(buffers.begin(), buffers.end());
    do {
      found_.q = buffers[0], found_.k = buffers[1], found_.v = buffers[2];
      const auto has = [&](const std::string& buffer, std::int64_t lines) {
        return static_cast<std::int64_t>(first_.read.at(buffer).size()) == lines * found_.depth;
      };
      if (!has(found_.q, heads * rows) || !has(found_.k, heads * keys) || !has(found_.v, heads * keys)) continue;
      // Of a row that is not the first, where there is one, so that hidden keys tell.
      const std::int64_t row = std::min<std::int64_t>(rows - 1, 1);
      const auto roles = RolesIn(Slice(first_, sizes, 0, row), row);
      if (!roles || roles->k != 1) continue;
      roles_ = *roles;
      if (IsAttention(first_, sizes)) return FindTypes();
    } while (std::next_permutation(buffers.begin(), buffers.end()));
    return false;
  }

  // What was read for a row of a head, and what was stored, with the numbers 0 to 3 for the buffers.
  ThreadTrace Slice(const ChainRun& run, const ChainSizes& sizes, std::int64_t head, std::int64_t row) const {
    const std::int64_t keys = sizes.at(found_.keys), rows = found_.rows.empty() ? 1 : sizes.at(found_.rows);
    ThreadTrace trace = run.knowledge;
    const auto take = [&](const BufferContents& from, std::int64_t line, std::int64_t lines, auto& to) {
      const auto end = from.lower_bound((line + lines) * found_.depth);
      for (auto at = from.lower_bound(line * found_.depth); at != end; ++at) to[at->first].value = at->second;
    };
    take(run.read.at(found_.q), head * rows + row, 1, trace.reads[0]);
    take(run.read.at(found_.k), head * keys, keys, trace.reads[1]);
    take(run.read.at(found_.v), head * keys, keys, trace.reads[2]);
    take(run.stored.at(found_.o), head * rows + row, 1, trace.stores[3]);
    return trace;
  }

  // Whether each row of each head is what the definition says, and nothing else is stored.
  bool IsAttention(const ChainRun& run, const ChainSizes& sizes) const {
    const std::int64_t heads = ProductOf(heads_, sizes), rows = found_.rows.empty() ? 1 : sizes.at(found_.rows);
    for (const std::string* buffer : {&found_.q, &found_.k, &found_.v}) {
      if (!run.read.contains(*buffer)) return false;
    }
    const auto stored = run.stored.find(found_.o);
    if (stored == run.stored.end() || static_cast<std::int64_t>(stored->second.size()) != heads * rows * found_.depth)
      return false;
    for (std::int64_t head = 0; head < heads; ++head) {
      for (std::int64_t row = 0; row < rows; ++row) {
        if (!Computes(Slice(run, sizes, head, row), roles_, row)) return false;
      }
    }
    return true;
  }

  bool FindTypes() {
    found_.causal = roles_.causal;
    found_.scale = roles_.scale;
    for (const ChainRuns::Link& link : runs_.links()) {
      for (const auto& [parameter, buffer] : link.buffers) {
        const std::string type = PointeeOf(tree_.node(parameter));
        if (buffer == found_.o) found_.output = type;
        for (const std::string* matrix : {&found_.q, &found_.k, &found_.v}) {
          if (buffer != *matrix) continue;
          if (!found_.element.empty() && found_.element != type) return false;
          found_.element = type;
        }
      }
      std::size_t place = 0;
      for (const int child : tree_.node(link.kernel).children) {
        if (tree_.node(child).kind_name != "ParmDecl" || place >= link.launch->arguments.size()) continue;
        const AttentionChain::Passed passed{WithoutConst(tree_.node(child).type), tree_.node(child).name,
                                            link.launch->arguments[place++]};
        if (!NamesIn(found_.scale).contains(passed.name)) continue;
        for (const auto& other : found_.of_scale) {
          if (other.name == passed.name && !(other == passed)) return false;
        }
        if (std::find(found_.of_scale.begin(), found_.of_scale.end(), passed) == found_.of_scale.end())
          found_.of_scale.push_back(passed);
      }
    }
    found_.parameters = ParametersBehind(context_, fmt::format("{}", fmt::join(first_.knowledge.names, " ")));
    return true;
  }

  static std::set<std::string> NamesIn(const std::string& text) {
    std::set<std::string> names;
    for (const SourceRange& range : Tokenize(text)) names.emplace(text.substr(range.begin, range.size()));
    return names;
  }

  // Other sizes, and more keys than any number of the code, so that a window or the like would be seen.
  bool RunOthers() {
    ChainSizes many;
    for (const std::string& name : runs_.names()) many[name] = name == found_.keys ? first_.knowledge.largest_number + 3 : 1;
    for (const std::string& name : runs_.names()) {
      if (name == found_.rows) many[name] = name == found_.keys ? many[name] : 2;
    }
    const std::int64_t keys = many.at(found_.keys), rows = found_.rows.empty() ? 1 : many.at(found_.rows);
    if (keys * rows * found_.depth > kMostChainProducts)
      return Refuse(fmt::format("it has the number {}, and so many keys are not tried", first_.knowledge.largest_number));
    for (const ChainSizes& sizes : {SizesOf(1), many}) {
      ChainRun run;
      if (!runs_.Run(sizes, run)) return false;
      if (!IsAttention(run, sizes)) return Refuse("with other sizes, what its kernels leave is no attention");
    }
    return true;
  }

  // Without keys, where that can be launched, and with scores of minus infinity: what is no number stays so, and else it must be
  // zero.
  bool RunUnweighted() {
    ChainSizes none = SizesOf(1);
    none[found_.keys] = 0;
    ChainRun empty, infinite;
    if (found_.rows != found_.keys && runs_.Run(none, empty)) {
      for (const auto& [index, value] : empty.stored[found_.o]) {
        if (std::isnan(value)) continue;
        if (value != 0) return Refuse("a row without keys is neither 0 / 0 nor zero");
        found_.zero = true;
      }
    }
    runs_.Fill({{found_.q, 1.0}, {found_.k, -std::numeric_limits<double>::infinity()}});
    if (!runs_.Run(SizesOf(1), infinite)) return false;
    const BufferContents& rows = infinite.stored[found_.o];
    found_.zero |= std::all_of(rows.begin(), rows.end(), [](const auto& element) { return element.second == 0; });
    return true;
  }

  const MutationContext& context_;
  const SyntaxTree& tree_;
  ChainRuns runs_;
  std::vector<std::string> heads_;  // of them
  ChainRun first_;
  AttentionRoles roles_;
  AttentionChain found_;
  std::string why_;
};

// The same with two numbers of elements in the place of a size.
std::optional<AttentionChain> ChainOfAnyDepth(const MutationContext& context, const std::string& size) {
  const DepthChoice choice{size, size, ""};
  std::int64_t largest = 0;
  const auto with = [&](std::int64_t depth) {
    const KernelTemplate rendered = WithDepth(context.rendered, choice, depth);
    std::string ignored;
    auto found = ChainFinder({context.kernel_template, context.genome, context.tree, rendered}).Find(ignored);
    if (found && found->depth != depth) found.reset();
    if (!found) return found;
    largest = found->largest_number;
    for (AttentionChain::Passed& passed : found->of_scale) {
      if (passed.argument == std::to_string(depth)) passed.argument = size;
    }
    found->scale = WithOtherName(found->scale, fmt::format("{}.0f", depth), fmt::format("(float){}", kDepthWord));
    found->depth = 0;
    found->largest_number = 0;
    return found;
  };
  const auto small = with(kSmallDepth);
  auto large = small ? with(LargeDepth(largest)) : std::nullopt;
  if (!large || !(*small == *large)) return std::nullopt;
  large->depth_size = size;
  return large;
}

}  // namespace

std::optional<AttentionChain> AsAttentionChain(const MutationContext& context, std::string& why) {
  if (auto chain = ChainFinder(context).Find(why)) return chain;
  // What resembles one says why it is none.
  if (why.empty()) return std::nullopt;
  ChainRuns runs(context);
  runs.Find();
  for (const std::string& size : runs.names()) {
    if (auto chain = ChainOfAnyDepth(context, size)) return chain;
  }
  return std::nullopt;
}

}  // namespace evo
