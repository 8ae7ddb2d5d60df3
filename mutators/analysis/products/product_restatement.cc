#include "mutators/analysis/products/product_restatement.h"

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
#include "mutators/analysis/grid_runs/launch_runs.h"
#include "mutators/analysis/products/contraction.h"
#include "mutators/analysis/products/product_check.h"
#include "mutators/analysis/products/product_finder.h"
#include "mutators/analysis/products/product_names.h"
#include "mutators/analysis/source/convolution_parts.h"
#include "mutators/analysis/source/counted_loop.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/memory_traffic.h"
#include "mutators/analysis/source/product_store.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/analysis/source/sum_loop.h"
#include "mutators/analysis/source/work_sharing.h"
#include "mutators/analysis/thread_runs/thread_block.h"

namespace evo {
namespace {

// Writes a product that was found as a kernel with one sum a thread.
class ProductWriter {
 public:
  ProductWriter(const MutationContext& context, int kernel, const LaunchDirective& launch, const ProductFinder& product)
      : context_(context),
        tree_(context.tree),
        kernel_(kernel),
        launch_(launch),
        product_(product),
        names_(tree_, launch, product) {}

  // nullopt if what follows its sums is not understood.
  std::optional<std::string> Text() { return product_.parts().plain() ? WritePlain() : Write(); }
  const std::string& why() const { return why_; }

 private:
  bool Refuse(std::string why) {
    why_ = std::move(why);
    return false;
  }
  // What a variable is for an element, as an expression of the two indices; empty if it is none of those.
  std::string IndexOf(int variable, const std::string& row, const std::string& column) const {
    for (const int kind : {0, 1, 2, 3, 4}) {
      if (kind > 2 && product_.batch_axis() < 0) break;
      bool is = true;
      for (const std::size_t number : {0u, 1u}) {
        const ProductLaunch& launch = product_.launch(number);
        const std::int64_t by = launch.setting.integers.at(product_.roles().by_c);
        for (const auto* sums : {&launch.sums, &launch.of_others}) {
          for (const ProductSum& sum : *sums) {
            const auto value = sum.integers.find(variable);
            const std::int64_t element = sum.element - sum.batch * product_.roles().next_c.In(launch.setting);
            const std::int64_t expected = kind == 0   ? element / by
                                          : kind == 1 ? element % by
                                          : kind == 2 ? element
                                          : kind == 3 ? sum.element
                                                      : sum.batch;
            is = is && value != sum.integers.end() && value->second == expected;
          }
        }
      }
      const SyntaxNode& declared = tree_.node(variable);
      const int value = declared.children.empty() ? -1 : WithoutParentheses(tree_, declared.children.back());
      // Itself a remainder: not one of parts of it.
      if (is && value >= 0 && (tree_.Operator(value) == "%" || tree_.Operator(value) == "&") && IsFolded(tree_, value)) return "";
      if (is && kind == 3)
        return fmt::format("({}{} * {} + {})", names_.Next(product_.roles().next_c), row, names_.Of(product_.roles().by_c),
                           column);
      if (is && kind == 4) return "int(blockIdx.z)";
      if (is)
        return kind == 0   ? row
               : kind == 1 ? column
                           : fmt::format("({} * {} + {})", row, names_.Of(product_.roles().by_c), column);
    }
    return "";
  }

  // Adds what an expression or a statement needs that is declared outside of it. False if something is not understood.
  bool Keep(int node, const std::string& row, const std::string& column) {
    for (const int at : Subtree(tree_, node)) {
      const SyntaxNode& name = tree_.node(at);
      if (name.kind_name != "DeclRefExpr") continue;
      const bool of_batch = product_.batch_axis() == 2 && name.name == "blockIdx" && tree_.Text(name.parent).ends_with(".z");
      if (name.refers_to < 0 && (name.name.ends_with("Idx") || name.name.ends_with("Dim")) && !of_batch)
        return Refuse(fmt::format("{} is used besides the two indices", name.name));
      const int variable = name.refers_to;
      if (variable < 0 || variable == product_.parts().accumulator || tree_.node(variable).function < 0) continue;
      const SyntaxNode& declared = tree_.node(variable);
      if (declared.kind_name == "ParmDecl") {
        if (product_.written().contains(variable))
          return Refuse(fmt::format("it changes {}, which its output needs", declared.name));
        continue;
      }
      if (declared.kind_name != "VarDecl" || IsWithin(tree_, variable, node) || !known_.insert(variable).second) continue;
      if (std::any_of(product_.parts().epilogue.begin(), product_.parts().epilogue.end(),
                      [&](int one) { return IsWithin(tree_, variable, one); }))
        continue;
      if (std::string index = IndexOf(variable, row, column); !index.empty()) {
        indices_[variable] = std::move(index);
        continue;
      }
      const bool simple = declared.type.find_first_of("[&") == std::string::npos && !declared.children.empty() &&
                          !product_.written().contains(variable) && IsPure(tree_, declared.children.back()) &&
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
    const std::string type = PointedTo(tree_, buffer), element = fmt::format("{}[{}]", names_.Of(buffer), index);
    if (type == sum && (type == "float" || type == "double")) return element;
    if (sum == "int") return IsByte(type) || type == "int" ? element : "";
    if (sum != "float") return "";
    if (type == "__half") return fmt::format("__half2float({})", element);
    if (type == "__nv_bfloat16") return fmt::format("__bfloat162float({})", element);
    return IsByte(type) ? fmt::format("static_cast<float>({})", element) : "";
  }

  std::optional<std::string> Write() {
    const auto unused = [&](const char* wanted) { return UnusedName(tree_.text(), wanted); };
    const std::string row = unused("row"), column = unused("column"), k = unused("k");
    for (const int statement : product_.parts().epilogue) {
      if (!Keep(statement, row, column)) return std::nullopt;
    }
    const SyntaxNode& sum = tree_.node(product_.parts().accumulator);
    const int start = product_.parts().starts_at_zero ? -1 : sum.children.back();
    if (start >= 0 && !Keep(start, row, column)) return std::nullopt;
    std::string end, before;
    std::sort(kept_.begin(), kept_.end());
    for (const int statement : kept_) (start < 0 ? end : before) += fmt::format("  {}\n", WithIndices(statement));
    for (const int statement : product_.parts().epilogue) end += fmt::format("  {}\n", WithIndices(statement));
    auto text = Written(row, column, k, WithoutConst(sum.type), sum.name, end, before, start < 0 ? "0" : WithIndices(start));
    const bool plain = start < 0 && product_.batch_axis() < 0;
    if (!text || plain || StoresTheSame(context_, kernel_, product_, *text)) return text;
    return Refuse("what it stores of its sum is not understood"), std::nullopt;
  }

  // The source with a kernel that adds up the products of an element, and then does what `end` says.
  std::optional<std::string> Written(const std::string& row, const std::string& column, const std::string& k,
                                     const std::string& type, const std::string& sum, const std::string& end,
                                     const std::string& before = {}, const std::string& start = "0") {
    const auto at = [&](const ProductRoles::Distance& next, const std::string& line, const std::string& by,
                        const std::string& along) {
      return fmt::format("{}(long long){} * {} + {}", names_.Next(next), line, by, along);
    };
    const ProductRoles& roles = product_.roles();
    const std::string by_a = names_.Of(product_.roles().by_a), by_b = names_.Of(product_.roles().by_b);
    const std::string a =
        Factor(roles.a, roles.a_by_columns ? at(roles.next_a, k, by_a, row) : at(roles.next_a, row, by_a, k), type);
    const std::string b =
        Factor(roles.b, roles.b_by_columns ? at(roles.next_b, column, by_b, k) : at(roles.next_b, k, by_b, column), type);
    if (a.empty() || b.empty()) return Refuse(fmt::format("it sums up in {} what is of another type", type)), std::nullopt;
    const std::string columns = names_.PassedFor(product_.roles().n), rows = names_.RowsPassed();
    if (rows.empty()) return Refuse("its number of rows is no parameter"), std::nullopt;
    std::string body = fmt::format(
        "{{\n  const int {0} = blockIdx.x * blockDim.x + threadIdx.x;\n  const int {1} = blockIdx.y * blockDim.y + threadIdx.y;\n"
        "  if ({1} >= {2} || {0} >= {3}) return;\n{8}  {4} {5} = {9};\n  for (int {6} = 0; {6} < {7}; ++{6}) ",
        column, row, product_.roles().m == ProductRoles::kMeasured ? names_.Rows() : names_.Of(product_.roles().m),
        names_.Of(product_.roles().n), type, sum, k, names_.Of(product_.roles().k), before, start);
    body += IsFused() ? fmt::format("{0} = {3}({1}, {2}, {0});\n", sum, a, b, type == "float" ? "fmaf" : "fma")
                      : fmt::format("{} += {} * {};\n", sum, a, b);
    Replacements replacements{{tree_.node(kernel_).children.back(), body + end + "}"}};
    if (product_.roles().m == ProductRoles::kMeasured) {
      const int last = LastParameter(tree_, kernel_);
      replacements.emplace_back(last, fmt::format("{}, int {}", tree_.Text(last), names_.Rows()));
    }
    std::string text = TextWith(tree_, 0, replacements);
    if (product_.roles().m == ProductRoles::kMeasured)
      text =
          RenderLaunchChange(text, {launch_.kernel, "arguments", fmt::format("{}, {}", fmt::join(launch_.arguments, ", "), rows)})
              .value_or("");
    const std::string batch =
        product_.batch_axis() < 0 ? "" : ", " + launch_.grid[static_cast<std::size_t>(product_.batch_axis())].text();
    for (const auto& [field, value] :
         {std::pair<std::string, std::string>("grid", fmt::format("ceil_div({}, 16), ceil_div({}, 16){}", columns, rows, batch)),
          std::pair<std::string, std::string>("block", "16, 16")})
      text = RenderLaunchChange(text, {launch_.kernel, field, value}).value_or("");
    return text;
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
        if (parameter && named != product_.output() && IsFolded(tree_, at)) return "";
        if (parameter && tree_.node(at).children[0] != base) return "";
        replacements.emplace_back(
            at, !parameter ? sum : fmt::format("{}[{}]", names_.Of(named), named == product_.output() ? element : index));
        at = tree_.EndOf(at);
        continue;
      }
      if (node.kind_name == "MemberRefExpr") return "";
      if (node.kind_name == "DeclRefExpr" && node.refers_to >= 0 && tree_.node(node.refers_to).function >= 0) {
        const SyntaxNode& declared = tree_.node(node.refers_to);
        const std::string type = WithoutConst(declared.type);
        const bool of_sum = type == "float" || type == "double" || (product_.of_integers() && type == "int");
        if (declared.kind_name == "VarDecl" && of_sum) {
          if (!IsSumItself(tree_, node.refers_to)) return "";
          replacements.emplace_back(at, sum);
        } else if (declared.kind_name != "ParmDecl" || product_.written().contains(node.refers_to))
          return "";
      }
      ++at;
    }
    return TextWith(tree_, value, replacements);
  }

  // Of a kernel whose threads store several sums each: what it stores is one expression, which is found to be right by running
  // it.
  std::optional<std::string> WritePlain() {
    const auto unused = [&](const char* wanted) { return UnusedName(tree_.text(), wanted); };
    const std::string row = unused("row"), column = unused("column"), k = unused("k"), sum = unused("sum");
    const std::string element = fmt::format("{}(long long){} * {} + {}", names_.Next(product_.roles().next_c), row,
                                            names_.Of(product_.roles().by_c), column);
    std::string type = PointedTo(tree_, product_.roles().a);
    if (type != "double") type = product_.of_integers() ? "int" : "float";
    for (const std::string& index : {column, row}) {
      std::set<std::string> texts;
      for (const int node : Subtree(tree_, kernel_)) {
        if (!IsStore(tree_, node) || PointerAt(tree_, Assigned(tree_, node)) < 0) continue;
        const bool adds = tree_.Operator(node) == "+=";
        if (tree_.Operator(node) != "=" && tree_.node(node).name != "operator=" && !adds)
          return Refuse("what it stores is not understood"), std::nullopt;
        std::string stored = StoredText(tree_.node(node).children.back(), sum, element, index);
        if (adds && !stored.empty()) stored = fmt::format("{}[{}] + {}", names_.Of(product_.output()), element, stored);
        texts.insert(std::move(stored));
      }
      // As vectors, or of variables that are not followed.
      const bool known = texts.size() == 1 && !texts.begin()->empty();
      if (!known) texts = {names_.StoredAsItIs(sum)};
      if (texts.begin()->empty()) return Refuse("what it stores is not understood"), std::nullopt;
      const std::string end = fmt::format("  {}[{}] = {};\n", names_.Of(product_.output()), element, *texts.begin());
      auto text = Written(row, column, k, type, sum, end);
      if (!text || StoresTheSame(context_, kernel_, product_, *text)) return text;
    }
    return Refuse("what it stores of its sums is not understood"), std::nullopt;
  }

  const MutationContext& context_;
  const SyntaxTree& tree_;
  int kernel_;
  const LaunchDirective& launch_;
  const ProductFinder& product_;
  const ProductNames names_;
  std::set<int> known_;
  std::map<int, std::string> indices_;
  std::vector<int> kept_;
  std::string why_;
};

}  // namespace

std::optional<std::string> RestatedProduct(const MutationContext& context, int kernel, std::string& why) {
  const SyntaxTree& tree = context.tree;
  const SyntaxNode& node = tree.node(kernel);
  if (node.kind_name != "FunctionDecl" || !MayBeProduct(tree, kernel) || IsKnownElsewhere(context, kernel)) return std::nullopt;
  const LaunchDirective* const launch = OnlyLaunch(context.rendered, node.name);
  if (launch == nullptr || !launch->cluster.empty() || launch->cooperative) return std::nullopt;
  if (context.product_elsewhere && NeedsBlock(tree, kernel)) {
    why = "another template is a product as a plain nest, from which the same is made";
    return std::nullopt;
  }
  const auto parts = SumPartsOf(tree, kernel);
  const auto* const sum = std::get_if<ConvolutionParts>(&parts);
  const std::string not_plain = WhyNotPlain(tree, kernel);
  bool whole_tiles = NeedsBlock(tree, kernel);
  std::int64_t multiple = 1;
  bool products = false;
  for (ProductSizes sizes; true;) {
    for (const bool plain : {false, true}) {
      if (!plain && (sum == nullptr || IsOfWords(tree, kernel))) continue;
      if (plain && !not_plain.empty()) {
        why = not_plain;
        continue;
      }
      ProductFinder finder(context, kernel, *launch, plain ? ConvolutionParts{} : *sum, sizes);
      ProductWriter writer(context, kernel, *launch, finder);
      const bool found = finder.Find();
      if (auto restated = found ? writer.Text() : std::nullopt) return restated;
      if (!sizes.products) why = found ? writer.why() : finder.why();
      // What is not understood with some sizes is not with others, either.
      products = products || finder.many_threads() || why == kNoProductOfMatrices;
      if (!plain && why == kSeveralElements) continue;
      // Threads beyond an edge may have left before they brought their part of a tile, and sums of integers may have no terms.
      const bool other = why.ends_with("is read and has no value") || IsOfWords(tree, kernel);
      const bool of_tiles = whole_tiles && !sizes.tiles && other;
      if (!finder.ran() && !finder.many_threads() && !of_tiles) return std::nullopt;
      multiple = std::max(multiple, finder.misaligned());
      whole_tiles = whole_tiles || !finder.has_threads() || finder.misaligned() > 0;
      if (!found && !plain && why != kSeveralElements && finder.has_threads() && finder.widest() == 1) break;
    }
    // Then with multiples of what it accesses at once, and at last with whole tiles.
    if (!whole_tiles && products && !sizes.products) {
      sizes = {false, 1, true};
      continue;
    }
    if (sizes.tiles || !whole_tiles) return std::nullopt;
    sizes = multiple > sizes.multiple ? ProductSizes{false, multiple} : ProductSizes{true, 1};
  }
}

}  // namespace evo
