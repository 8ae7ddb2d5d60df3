#include "mutators/analysis/product_restatement.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "kernel_templates/brought_parameters.h"
#include "kernel_templates/renderer.h"
#include "mutators/analysis/contraction.h"
#include "mutators/analysis/convolution_parts.h"
#include "mutators/analysis/counted_loop.h"
#include "mutators/analysis/data_flow.h"
#include "mutators/analysis/launch_runs.h"
#include "mutators/analysis/memory_traffic.h"
#include "mutators/analysis/product_roles.h"
#include "mutators/analysis/source_query.h"
#include "mutators/analysis/sum_loop.h"
#include "mutators/analysis/work_sharing.h"

namespace evo {
namespace {

// The sizes of the launch line in two launches of which all threads are run. Those of the first are larger than most numbers of
// kernels, such as the sizes of tiles.
constexpr std::int64_t kProductSizes[2][6] = {{35, 41, 37, 44, 47, 50}, {19, 38, 11, 22, 25, 28}};
// The same where the threads of a block run together, which takes longer.
constexpr std::int64_t kProductSizesOfBlocks[2][6] = {{19, 21, 18, 23, 25, 27}, {7, 18, 21, 9, 11, 13}};
// The same for kernels that take whole tiles only.
constexpr std::int64_t kProductSizesOfTiles[2][6] = {{64, 128, 96, 192, 160, 224}, {128, 64, 160, 96, 192, 32}};
constexpr std::size_t kMostProductSizes = 6;
// Of a third launch, whose sizes are beyond all numbers of the code.
constexpr std::int64_t kMostProductNumber = 300;
// Threads of a product with the sizes above, with some beyond its edges.
constexpr std::int64_t kMostProductThreads = 17'000;
constexpr std::size_t kLargeThreads = 24, kDecidingThreads = 3;

class ProductFinder {
 public:
  // Without parts, threads may store several sums each. `tiles`: with sizes for kernels that take whole tiles only.
  ProductFinder(const MutationContext& context, int kernel, const LaunchDirective& launch, ConvolutionParts parts, bool tiles)
      : context_(context),
        tree_(context.tree),
        kernel_(kernel),
        launch_(launch),
        parts_(std::move(parts)),
        together_(NeedsBlock(tree_, kernel)),
        tiles_(tiles),
        written_(WrittenIn(tree_, kernel)),
        runs_(context, launch, kernel, parts_.loop, Noted()) {
    if (parts_.plain())
      runs_.TellSums();
    else
      runs_.Follow(parts_.accumulator);
  }

  std::optional<std::string> Restate() {
    if (!runs_.refusal().empty()) return Refuse(runs_.refusal()), std::nullopt;
    if (runs_.names().size() > kMostProductSizes) return Refuse("its launch line names too many sizes"), std::nullopt;
    for (const std::size_t number : {0u, 1u}) {
      if (!RunAll(number)) return std::nullopt;
    }
    if (!FindRoles()) return Refuse("run on numbers, what it sums up is no product of two matrices"), std::nullopt;
    if (!RunLarge() || !CheckDeciding()) return std::nullopt;
    if (parts_.plain()) return WritePlain();
    return Write();
  }
  const std::string& why() const { return why_; }
  // Whether its threads could be run on numbers.
  bool ran() const { return ran_; }

 private:
  bool Refuse(std::string why) {
    why_ = std::move(why);
    return false;
  }
  std::string NameOf(int declaration) const { return tree_.node(declaration).name; }

  // Integers that what follows the sum may name.
  std::set<int> Noted() const {
    std::set<int> noted{parts_.accumulator};
    for (const int node : Subtree(tree_, kernel_)) {
      const std::string type = WithoutConst(tree_.node(node).type);
      if (tree_.node(node).kind_name == "VarDecl" && IsArithmetic(type) && type != "float" && type != "double")
        noted.insert(node);
    }
    return noted;
  }

  // A thread's sums where it may store several, by what it stores.
  std::vector<ProductSum> PlainSums(const LaunchRuns::Setting& setting, std::int64_t thread, const ThreadTrace& trace) {
    const auto& [buffer, elements] = *trace.stores.begin();
    if (trace.stores.size() > 1 || (output_ >= 0 && output_ != buffer)) Refuse("its threads store to two buffers");
    output_ = buffer;
    std::vector<ProductSum> sums;
    for (const auto& [element, access] : elements) {
      ProductSum& sum = sums.emplace_back();
      sum.element = element;
      sum.integers = LaunchRuns::BuiltinsOf(setting, thread);
      sum.stored = access.value;
      const ThreadSum* at = access.inner ? access.inner.get() : access.sum.get();
      while (at != nullptr && at->b < 0 && !at->added) at = at->before.get();
      for (; at != nullptr; at = at->before.get()) {
        if (at->added) Refuse("it adds up parts of a sum by themselves, which is another order");
        if (at->b < 0) break;
        read_.insert({at->a, at->b});
        sum.steps.push_back(at->value);
      }
      std::reverse(sum.steps.begin(), sum.steps.end());
    }
    return why_.empty() ? sums : std::vector<ProductSum>();
  }

  // A thread's sums; none if it stores nothing or, with a reason, is not understood.
  std::vector<ProductSum> SumsOf(const LaunchRuns::Setting& setting, std::int64_t thread) {
    const ThreadTrace trace = runs_.Run(setting, thread);
    largest_ = std::max(largest_, trace.largest_number);
    if (!trace.refusal.empty()) Refuse(trace.refusal);
    if (trace.stores.empty() || !why_.empty()) return {};
    if (parts_.plain()) return PlainSums(setting, thread, trace);
    const auto& [buffer, elements] = *trace.stores.begin();
    if (trace.stores.size() > 1 || elements.size() > 1 || trace.after.times != 1) Refuse("a thread stores more than one element");
    if (output_ >= 0 && output_ != buffer) Refuse("its threads store to two buffers");
    if (trace.after.rounded || trace.after.reals_compared) Refuse("it rounds or compares parts of its sum");
    output_ = buffer;
    for (const auto& [read, indices] : trace.after.reads) read_.insert(read);
    ProductSum sum{elements.begin()->first, {}, LaunchRuns::BuiltinsOf(setting, thread), elements.begin()->second.value};
    const auto end = trace.history.begin() + static_cast<std::ptrdiff_t>(trace.after.history);
    for (auto at = trace.history.begin(); at != end; ++at) {
      const double step = *at;
      if (sum.steps.empty() || step != sum.steps.back()) sum.steps.push_back(step);
    }
    for (const auto& [variable, value] : trace.after.values) {
      if (value.kind == ThreadValue::Kind::kInteger) sum.integers[variable] = value.integer;
    }
    return why_.empty() ? std::vector{std::move(sum)} : std::vector<ProductSum>();
  }

  bool RunAll(std::size_t number) {
    LaunchRuns::Sizes sizes;
    for (std::size_t i = 0; i < runs_.names().size(); ++i)
      sizes[runs_.names()[i]] = (tiles_ ? kProductSizesOfTiles : together_ ? kProductSizesOfBlocks : kProductSizes)[number][i];
    const auto setting = runs_.SettingOf(sizes);
    if (!setting || setting->grid[2] != 1) return Refuse("its launch line has a third dimension, or passes what is no number");
    if (setting->Threads() > kMostProductThreads) return Refuse("it has more threads than a product of such sizes has elements");
    launches_[number] = {};
    launches_[number].setting = *setting;
    launches_[number].sizes = sizes;
    for (std::int64_t thread = 0; thread < setting->Threads(); ++thread) {
      for (ProductSum& sum : SumsOf(*setting, thread)) launches_[number].sums.push_back(std::move(sum));
      if (!why_.empty()) return false;
    }
    ran_ = true;
    return !launches_[number].sums.empty() || Refuse("no thread stores anything in a launch with sizes from 7 to 50");
  }

  bool FindRoles() {
    std::vector<int> integers;
    for (const auto& [parameter, expression] : runs_.arguments()) {
      if (!written_.contains(parameter)) integers.push_back(parameter);
    }
    read_.erase(output_);
    const auto roles = ProductRolesOf(launches_, integers, read_);
    if (roles) roles_ = *roles;
    return roles.has_value();
  }

  bool RunLarge() {
    if (largest_ > kMostProductNumber)
      return Refuse(fmt::format("it has the number {}, and larger sizes are not tried", largest_));
    LaunchRuns::Sizes sizes;
    std::int64_t next = std::max<std::int64_t>(largest_, 50);
    for (const std::string& name : runs_.names()) sizes[name] = next += tiles_ ? 64 - next % 64 : 3;
    const auto setting = runs_.SettingOf(sizes);
    if (!setting) return Refuse("its launch line has no threads where sizes are large");
    std::uint64_t random = 1;
    for (std::size_t i = 0; i < (together_ ? 1 : kLargeThreads); ++i) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      const auto thread = static_cast<std::int64_t>((random >> 16) % static_cast<std::uint64_t>(setting->Threads()));
      const auto sums = SumsOf(*setting, thread);
      if (!why_.empty()) return false;
      if (!std::all_of(sums.begin(), sums.end(), [&](const ProductSum& sum) { return IsSumOf(roles_, *setting, sum); }))
        return Refuse("where sizes are large, it is no product of two matrices");
    }
    return true;
  }

  // Whether a symbol is of the thread, or follows from these parameters.
  bool IsAllowed(int symbol, const std::set<int>& used) const {
    if (symbol < -1 || used.contains(symbol)) return true;
    if (!runs_.threads().block_constants().contains(symbol)) return false;
    const auto named = NamedIn(tree_, tree_.node(symbol).children.back());
    return std::all_of(named.begin(), named.end(),
                       [&](int name) { return tree_.node(name).function < 0 || IsAllowed(name, used); });
  }

  // Nothing but sizes and the thread may decide what it does.
  bool CheckDeciding() {
    const std::set<int> used{roles_.m, roles_.n, roles_.k, roles_.by_a, roles_.by_b, roles_.by_c};
    const LaunchRuns::Setting& setting = launches_[1].setting;
    const std::int64_t threads = together_ ? setting.block[0] * setting.block[1] * setting.block[2] : setting.Threads();
    for (std::size_t i = 0; i < kDecidingThreads; ++i) {
      const std::int64_t thread = threads / static_cast<std::int64_t>(kDecidingThreads) * static_cast<std::int64_t>(i);
      const ThreadTrace trace = runs_.Run(setting, thread, true);
      if (!trace.refusal.empty()) return Refuse(trace.refusal);
      for (const int symbol : trace.deciding) {
        if (IsAllowed(symbol, used)) continue;
        return Refuse(fmt::format("{} decides what it computes", runs_.threads().TextOf(AffineForm::Symbol(symbol))));
      }
    }
    return true;
  }

  // What the launch line passes for a parameter.
  std::string PassedFor(int parameter) const {
    for (const auto& [passed, expression] : runs_.arguments()) {
      if (passed == parameter) return expression.text();
    }
    return "0";
  }

  // What a variable is for an element, as an expression of the two indices; empty if it is none of those.
  std::string IndexOf(int variable, const std::string& row, const std::string& column) const {
    for (const int kind : {0, 1, 2}) {
      bool is = true;
      for (const std::size_t number : {0u, 1u}) {
        const std::int64_t by = launches_[number].setting.integers.at(roles_.by_c);
        for (const ProductSum& sum : launches_[number].sums) {
          const auto value = sum.integers.find(variable);
          const std::int64_t expected = kind == 0 ? sum.element / by : kind == 1 ? sum.element % by : sum.element;
          is = is && value != sum.integers.end() && value->second == expected;
        }
      }
      if (is) return kind == 0 ? row : kind == 1 ? column : fmt::format("({} * {} + {})", row, NameOf(roles_.by_c), column);
    }
    return "";
  }

  // Adds what an expression or a statement needs that is declared outside of it. False if something is not understood.
  bool Keep(int node, const std::string& row, const std::string& column) {
    for (const int at : Subtree(tree_, node)) {
      const SyntaxNode& name = tree_.node(at);
      if (name.kind_name != "DeclRefExpr") continue;
      if (name.refers_to < 0 && (name.name.ends_with("Idx") || name.name.ends_with("Dim")))
        return Refuse(fmt::format("{} is used besides the two indices", name.name));
      const int variable = name.refers_to;
      if (variable < 0 || variable == parts_.accumulator || tree_.node(variable).function < 0) continue;
      const SyntaxNode& declared = tree_.node(variable);
      if (declared.kind_name == "ParmDecl") {
        if (written_.contains(variable)) return Refuse(fmt::format("it changes {}, which its output needs", declared.name));
        continue;
      }
      if (declared.kind_name != "VarDecl" || IsWithin(tree_, variable, node) || !known_.insert(variable).second) continue;
      if (std::any_of(parts_.epilogue.begin(), parts_.epilogue.end(), [&](int one) { return IsWithin(tree_, variable, one); }))
        continue;
      if (std::string index = IndexOf(variable, row, column); !index.empty()) {
        indices_[variable] = std::move(index);
        continue;
      }
      const bool simple = declared.type.find_first_of("[&") == std::string::npos && !declared.children.empty() &&
                          !written_.contains(variable) && IsPure(tree_, declared.children.back()) &&
                          tree_.node(tree_.node(variable).parent).children.size() == 1;
      if (!simple) return Refuse(fmt::format("its output needs {}, which is not understood", declared.name));
      if (!Keep(declared.children.back(), row, column)) return false;
      kept_.push_back(tree_.node(variable).parent);
    }
    return true;
  }

  std::string WithIndices(int node) const {
    Replacements uses;
    for (const auto& [variable, index] : indices_) {
      const Replacements more = UsesAs(tree_, variable, node, index);
      uses.insert(uses.end(), more.begin(), more.end());
    }
    return TextWith(tree_, node, uses);
  }

  bool IsFused() const {
    const auto calls = NodesOfKind(tree_, "CallExpr");
    return std::any_of(calls.begin(), calls.end(), [&](int call) { return IsFusedMultiplyAdd(LibraryCallee(tree_, call)); });
  }

  // An element as a factor; empty if its type does not go with that of the sum.
  std::string Factor(int buffer, const std::string& index, const std::string& sum) const {
    const std::string type = PointedTo(tree_, buffer), element = fmt::format("{}[{}]", NameOf(buffer), index);
    if (type == sum && (type == "float" || type == "double")) return element;
    if (sum != "float") return "";
    if (type == "__half") return fmt::format("__half2float({})", element);
    return type == "__nv_bfloat16" ? fmt::format("__bfloat162float({})", element) : "";
  }

  std::optional<std::string> Write() {
    const auto unused = [&](const char* wanted) { return UnusedName(tree_.text(), wanted); };
    const std::string row = unused("row"), column = unused("column"), k = unused("k");
    for (const int statement : parts_.epilogue) {
      if (!Keep(statement, row, column)) return std::nullopt;
    }
    std::string end;
    std::sort(kept_.begin(), kept_.end());
    for (const int statement : kept_) end += fmt::format("  {}\n", WithIndices(statement));
    for (const int statement : parts_.epilogue) end += fmt::format("  {}\n", WithIndices(statement));
    return Written(row, column, k, WithoutConst(tree_.node(parts_.accumulator).type), NameOf(parts_.accumulator), end);
  }

  // The source with a kernel that adds up the products of an element, and then does what `end` says.
  std::optional<std::string> Written(const std::string& row, const std::string& column, const std::string& k,
                                     const std::string& type, const std::string& sum, const std::string& end) {
    const auto at = [](const std::string& line, const std::string& by, const std::string& along) {
      return fmt::format("(long long){} * {} + {}", line, by, along);
    };
    const std::string by_a = NameOf(roles_.by_a), by_b = NameOf(roles_.by_b);
    const std::string a = Factor(roles_.a, roles_.a_by_columns ? at(k, by_a, row) : at(row, by_a, k), type);
    const std::string b = Factor(roles_.b, roles_.b_by_columns ? at(column, by_b, k) : at(k, by_b, column), type);
    if (a.empty() || b.empty()) return Refuse(fmt::format("it sums up in {} what is of another type", type)), std::nullopt;
    const std::string columns = PassedFor(roles_.n), rows = RowsPassed();
    if (rows.empty()) return Refuse("its number of rows is no parameter"), std::nullopt;
    std::string body = fmt::format(
        "{{\n  const int {0} = blockIdx.x * blockDim.x + threadIdx.x;\n  const int {1} = blockIdx.y * blockDim.y + threadIdx.y;\n"
        "  if ({1} >= {2} || {0} >= {3}) return;\n  {4} {5} = 0;\n  for (int {6} = 0; {6} < {7}; ++{6}) ",
        column, row, roles_.m == ProductRoles::kMeasured ? RowsName() : NameOf(roles_.m), NameOf(roles_.n), type, sum, k,
        NameOf(roles_.k));
    body += IsFused() ? fmt::format("{0} = {3}({1}, {2}, {0});\n", sum, a, b, type == "float" ? "fmaf" : "fma")
                      : fmt::format("{} += {} * {};\n", sum, a, b);
    Replacements replacements{{tree_.node(kernel_).children.back(), body + end + "}"}};
    if (roles_.m == ProductRoles::kMeasured) {
      const int last = LastParameter(tree_, kernel_);
      replacements.emplace_back(last, fmt::format("{}, int {}", tree_.Text(last), RowsName()));
    }
    std::string text = TextWith(tree_, 0, replacements);
    if (roles_.m == ProductRoles::kMeasured)
      text =
          RenderLaunchChange(text, {launch_.kernel, "arguments", fmt::format("{}, {}", fmt::join(launch_.arguments, ", "), rows)})
              .value_or("");
    for (const auto& [field, value] :
         {std::pair<std::string, std::string>("grid", fmt::format("ceil_div({}, 16), ceil_div({}, 16)", columns, rows)),
          std::pair<std::string, std::string>("block", "16, 16")})
      text = RenderLaunchChange(text, {launch_.kernel, field, value}).value_or("");
    return text;
  }

  std::string RowsName() const { return UnusedName(tree_.text(), "row_count"); }

  // What the launch line has for the number of rows: its parameter, or what all blocks along an axis have.
  std::string RowsPassed() const {
    if (roles_.m != ProductRoles::kMeasured) return PassedFor(roles_.m);
    for (std::size_t axis = 0; axis < launch_.grid.size(); ++axis) {
      std::int64_t each[2] = {};
      for (const std::size_t number : {0u, 1u}) {
        const LaunchRuns::Setting& setting = launches_[number].setting;
        const std::int64_t rows = launches_[number].RowsOf(setting.integers.at(roles_.n));
        each[number] = rows % setting.grid[axis] == 0 ? rows / setting.grid[axis] : 0;
      }
      if (each[0] > 0 && each[0] == each[1] && launches_[0].setting.grid[axis] != launches_[1].setting.grid[axis])
        return fmt::format("({}) * {}", launch_.grid[axis].text(), each[0]);
    }
    return "";
  }

  // What is stored for an element, from the only expression that the kernel stores: with `sum` for the sum; empty if it is not
  // understood. `index` is what elements of other buffers have.
  std::string StoredText(int value, const std::string& sum, const std::string& element, const std::string& index) {
    Replacements replacements;
    for (int at = value; at < tree_.EndOf(value);) {
      const SyntaxNode& node = tree_.node(at);
      if (node.kind_name == "ArraySubscriptExpr") {
        int base = at;
        while (tree_.node(base).kind_name == "ArraySubscriptExpr") base = WithoutParentheses(tree_, tree_.node(base).children[0]);
        const int named = NamedDeclaration(tree_, base);
        if (named < 0) return "";
        const bool parameter = tree_.node(named).kind_name == "ParmDecl";
        if (parameter && tree_.node(at).children[0] != base) return "";
        replacements.emplace_back(at,
                                  !parameter ? sum : fmt::format("{}[{}]", NameOf(named), named == output_ ? element : index));
        at = tree_.EndOf(at);
        continue;
      }
      if (node.kind_name == "MemberRefExpr") return "";
      if (node.kind_name == "DeclRefExpr" && node.refers_to >= 0 && tree_.node(node.refers_to).function >= 0) {
        const SyntaxNode& declared = tree_.node(node.refers_to);
        const std::string type = WithoutConst(declared.type);
        if (declared.kind_name == "VarDecl" && (type == "float" || type == "double"))
          replacements.emplace_back(at, sum);
        else if (declared.kind_name != "ParmDecl" || written_.contains(node.refers_to))
          return "";
      }
      ++at;
    }
    return TextWith(tree_, value, replacements);
  }

  // Whether the restated kernel stores the same as this one, in both launches.
  bool StoresTheSame(const std::string& text) {
    const auto tree = tree_.Reparsed(text);
    if (!tree) return false;
    const KernelTemplate rendered = ParseTemplate(context_.rendered.name, text);
    const MutationContext context{context_.kernel_template, context_.genome, *tree, rendered, nullptr};
    const LaunchDirective* const launch = OnlyLaunch(rendered, NameOf(kernel_));
    if (launch == nullptr || tree->node(output_).name != NameOf(output_)) return false;
    LaunchRuns runs(context, *launch, kernel_, -1, {});
    for (const ProductLaunch& expected : launches_) {
      const auto setting = runs.SettingOf(expected.sizes);
      if (!setting) return false;
      std::map<std::int64_t, double> stored;
      for (std::int64_t thread = 0; thread < setting->Threads(); ++thread) {
        const ThreadTrace trace = runs.Run(*setting, thread);
        if (!trace.refusal.empty()) return false;
        for (const auto& [buffer, elements] : trace.stores) {
          if (buffer != output_) return false;
          for (const auto& [element, access] : elements) stored[element] = access.value;
        }
      }
      if (stored.size() != expected.sums.size()) return false;
      for (const ProductSum& sum : expected.sums) {
        const auto at = stored.find(sum.element);
        if (at == stored.end() || !(std::abs(at->second - sum.stored) <= 1e-9 * (1 + std::abs(sum.stored)))) return false;
      }
    }
    return true;
  }

  // Of a kernel whose threads store several sums each: what it stores is one expression, which is found to be right by running
  // it.
  std::optional<std::string> WritePlain() {
    const auto unused = [&](const char* wanted) { return UnusedName(tree_.text(), wanted); };
    const std::string row = unused("row"), column = unused("column"), k = unused("k"), sum = unused("sum");
    const std::string element = fmt::format("(long long){} * {} + {}", row, NameOf(roles_.by_c), column);
    std::string type = PointedTo(tree_, roles_.a);
    if (type != "double") type = "float";
    for (const std::string& index : {column, row}) {
      std::set<std::string> texts;
      for (const int node : Subtree(tree_, kernel_)) {
        if (!IsStore(tree_, node) || PointerAt(tree_, Assigned(tree_, node)) < 0) continue;
        if (tree_.Operator(node) != "=" && tree_.node(node).name != "operator=")
          return Refuse("what it stores is not understood"), std::nullopt;
        texts.insert(StoredText(tree_.node(node).children.back(), sum, element, index));
      }
      if (texts.size() != 1 || texts.begin()->empty()) return Refuse("what it stores is not understood"), std::nullopt;
      const std::string end = fmt::format("  {}[{}] = {};\n", NameOf(output_), element, *texts.begin());
      auto text = Written(row, column, k, type, sum, end);
      if (!text || StoresTheSame(*text)) return text;
    }
    return Refuse("what it stores of its sums is not understood"), std::nullopt;
  }

  const MutationContext& context_;
  const SyntaxTree& tree_;
  int kernel_;
  const LaunchDirective& launch_;
  ConvolutionParts parts_;
  bool together_, tiles_;
  std::set<int> written_;
  LaunchRuns runs_;
  ProductLaunch launches_[2];
  std::set<int> read_;  // buffers
  int output_ = -1;
  std::int64_t largest_ = 0;
  ProductRoles roles_;
  std::set<int> known_;
  std::map<int, std::string> indices_;
  std::vector<int> kept_;
  std::string why_;
  bool ran_ = false;
};

// Whether it has so many pointers to real numbers that it may be a product.
bool MayBeProduct(const SyntaxTree& tree, int kernel) {
  int inputs = 0;
  for (const int child : tree.node(kernel).children) {
    const SyntaxNode& parameter = tree.node(child);
    if (parameter.kind_name != "ParmDecl" || parameter.type.find('*') == std::string::npos) continue;
    const std::string type = PointedTo(tree, child);
    inputs += type == "float" || type == "double" || type == "__half" || type == "__nv_bfloat16";
  }
  return inputs >= 3;
}

}  // namespace

std::optional<std::string> RestatedProduct(const MutationContext& context, int kernel, std::string& why) {
  const SyntaxTree& tree = context.tree;
  const SyntaxNode& node = tree.node(kernel);
  if (node.kind_name != "FunctionDecl" || !MayBeProduct(tree, kernel)) return std::nullopt;
  const LaunchDirective* const launch = OnlyLaunch(context.rendered, node.name);
  if (launch == nullptr || !launch->cluster.empty() || launch->cooperative) return std::nullopt;
  const auto parts = SumPartsOf(tree, kernel);
  const auto* const sum = std::get_if<ConvolutionParts>(&parts);
  std::string first;
  for (const bool tiles : {false, true}) {
    for (const bool plain : {false, true}) {
      if (!plain && sum == nullptr) continue;
      ProductFinder finder(context, kernel, *launch, plain ? ConvolutionParts{} : *sum, tiles);
      if (auto restated = finder.Restate()) return restated;
      if (first.empty()) first = finder.why();
      // What is none of a product's code is none of one with other sizes, either.
      if (!finder.ran()) return why = first, std::nullopt;
    }
  }
  why = first;
  return std::nullopt;
}

std::optional<std::string> RestatedProducts(const MutationContext& context,
                                            const std::function<void(const std::string&)>& refuse) {
  const SyntaxTree& tree = context.tree;
  for (const int kernel : Functions(tree)) {
    if (!IsKernel(tree, kernel) || std::holds_alternative<Contraction>(AsContraction(context, kernel))) continue;
    std::string why;
    auto restated = RestatedProduct(context, kernel, why);
    if (restated) return restated;
    if (!why.empty()) refuse(fmt::format("{}: {}", tree.node(kernel).name, why));
  }
  return std::nullopt;
}

}  // namespace evo
