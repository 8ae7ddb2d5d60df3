#include "mutators/analysis/products/product_results.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "kernel_templates/brought_parameters.h"
#include "mutators/analysis/grid_runs/source_runs.h"
#include "mutators/analysis/products/product_candidates.h"
#include "mutators/analysis/products/product_guess.h"
#include "mutators/analysis/products/product_result_text.h"
#include "mutators/analysis/products/product_trials.h"
#include "mutators/analysis/source/convolution_parts.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/product_store.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/analysis/source/work_sharing.h"
#include "mutators/analysis/thread_runs/thread_block.h"

namespace evo {
namespace {

constexpr const char* kNoProductLeft = "what its threads leave is no product of two matrices";
constexpr std::size_t kMostSizesOfProduct = 6;
constexpr std::int64_t kLargestProductNumber = 2000;
// Of the runs that tell whether it is one at all.
constexpr std::int64_t kMostTurnsOfGuessedProducts = 2'000'000;

class ProductResults {
 public:
  ProductResults(const MutationContext& context, int kernel, const LaunchDirective& launch)
      : context_(context), tree_(context.tree), kernel_(kernel), launch_(launch), trials_(context, {}, {}) {}

  std::optional<ProductByResults> Find() {
    if (!FindGuesses() || !HoldsForOthers() || !HoldsForNaN()) return std::nullopt;
    for (const ProductGuess& guess : guesses_) {
      if (auto restated = TextOfProduct(context_, kernel_, launch_, guess, why_))
        return ProductByResults{*restated, seen_.in_order};
    }
    return std::nullopt;
  }
  const std::string& why() const { return why_; }
  // Whether the reason says more than that it is no product.
  bool says_more() const { return seen_.product || why_.find("no barrier is between them") != std::string::npos; }

 private:
  struct Ran {
    std::unique_ptr<SourceRuns> runs;
    LaunchTrial trial;
    LaunchedRun run;
    std::unique_ptr<LaunchedValues> values;
    ProductRun With() const {
      std::map<std::string, std::function<double(std::int64_t)>> elements;
      for (const auto& link : runs->links()) {
        for (const auto& [parameter, buffer] : link.buffers) elements[buffer] = runs->ElementsOf(trial, buffer);
      }
      return {run, *values, [elements = std::move(elements)](const std::string& buffer, std::int64_t index) {
                return elements.at(buffer)(index);
              }};
    }
  };

  bool Refuse(std::string why) {
    why_ = std::move(why);
    return false;
  }

  // nullopt, with the reason, if it is not understood.
  std::optional<Ran> Run(LaunchTrial trial) {
    Ran ran{std::make_unique<SourceRuns>(context_), std::move(trial), {}, nullptr};
    const bool ran_all = ran.runs->FindOnly(launch_) && ran.runs->Run(ran.trial, ran.run);
    turns_ += ran.runs->turns();
    if (!ran_all) {
      why_ = ran.runs->why();
      if (why_.starts_with(launch_.kernel + ": ")) why_ = why_.substr(launch_.kernel.size() + 2);
      return std::nullopt;
    }
    ran.values = std::make_unique<LaunchedValues>(*ran.runs->links().front().runs->SettingOf(ran.trial.sizes));
    seen_.largest = std::max({seen_.largest, ran.run.knowledge.largest_number, ran.runs->LargestArgument()});
    seen_.rounded |= ran.run.knowledge.rounded;
    seen_.names.insert(ran.run.knowledge.names.begin(), ran.run.knowledge.names.end());
    for (const auto& [number, seen] : ran.run.compared) {
      auto& [less, more] = seen_.compared[number];
      less |= seen.first, more |= seen.second;
    }
    return ran;
  }

  bool FindGuesses() {
    SourceRuns runs(context_);
    if (!runs.FindOnly(launch_)) return Refuse(runs.why());
    if (runs.names().size() > kMostSizesOfProduct) return Refuse("its launch line names too many sizes");
    const LaunchRuns& launch = *runs.links().front().runs;
    const auto units = UnitsOfProducts(context_, launch);
    std::string not_one;
    for (const ProductTrials::Units& tried : units) {
      trials_ = ProductTrials(context_, launch.names(), tried);
      const auto ran = Run({trials_.Choice(0), {}, {}});
      if (turns_ > kMostTurnsOfGuessedProducts) break;
      if (!ran) continue;
      guesses_ = GuessesOf(*ran, launch);
      seen_.product |= !guesses_.empty();
      if (!guesses_.empty() && Holds({trials_.Choice(1), {}, {}})) return true;
      not_one = kNoProductLeft;
      if (&tried == &units.front() && !launch.together() && units.size() == 1) break;
    }
    return Refuse(not_one.empty() ? why_ : not_one);
  }

  std::vector<ProductGuess> GuessesOf(const Ran& ran, const LaunchRuns& launch) {
    std::string output;
    for (const auto& [buffer, elements] : ran.run.stored) {
      if (elements.empty()) continue;
      if (!output.empty()) return {};
      output = buffer;
    }
    std::vector<std::string> inputs, read;
    for (const auto& [buffer, elements] : ran.run.read) {
      read.push_back(buffer);
      if (buffer != output) inputs.push_back(buffer);
    }
    if (output.empty() || inputs.size() < 2) return {};
    const ProductCandidates candidates(context_, kernel_);
    std::vector<ProductNumber> numbers, products;
    candidates.AddSizes(launch, numbers, products);
    const auto ends = ProductEnds(candidates.FactorsIn(ran.run), read);
    auto found = ProductGuessesIn(ran.With(), output, inputs, numbers, products, ends);
    if (!found.empty()) return found;
    // Sizes may be numbers of the code.
    return ProductGuessesIn(ran.With(), output, inputs, numbers, candidates.Spelled(seen_.names), ends);
  }

  // Whether some guesses hold for another run, too; the others go.
  bool Holds(LaunchTrial trial) {
    const auto ran = Run(std::move(trial));
    if (!ran) return false;
    const ProductRun run = ran->With();
    std::erase_if(guesses_, [&](const ProductGuess& guess) {
      const ProductComparison compared = Compare(guess, run);
      const bool holds = compared.holds && compared.last && (ran->trial.samples || compared.complete);
      if (holds) seen_.in_order = seen_.in_order && compared.in_order;
      return !holds;
    });
    return !guesses_.empty();
  }

  bool StillHolds(LaunchTrial trial, const std::string& why) {
    why_.clear();
    if (Holds(std::move(trial))) return true;
    return Refuse(guesses_.empty() ? why : why_);
  }

  bool HoldsForOthers() {
    if (!StillHolds({trials_.Small(), {}, {}}, "with small sizes, what it leaves is no product of two matrices")) return false;
    const ProductGuess guess = guesses_.front();
    std::set<std::string> of_product;
    for (const ProductNumber* number : {&guess.batches, &guess.m, &guess.n, &guess.k, &guess.by_a, &guess.by_b, &guess.by_c,
                                        &guess.next_a, &guess.next_b, &guess.next_c}) {
      for (const std::string& name : Expression::Parse(number->launch).Names()) of_product.insert(name);
    }
    if (seen_.largest > kLargestProductNumber)
      return Refuse(fmt::format("it has the number {}, and larger sizes are not tried", seen_.largest));
    for (const std::string& name : trials_.names()) {
      if (!of_product.contains(name)) {
        for (const std::int64_t number : {1, 2}) {
          LaunchRuns::Sizes sizes = trials_.Choice(1);
          sizes[name] = number;
          if (!StillHolds({sizes, {}, {}}, fmt::format("{} decides what it computes", name))) return false;
        }
        continue;
      }
      if (trials_.UnitOf(name) > 1 && !HoldsUneven(name)) return false;
      if (!StillHolds({trials_.Large(name, seen_.largest + 3), {}, {}, true},
                      fmt::format("where {} is large, what it leaves is no product of two matrices", name)))
        return false;
    }
    return ComparesForItsFunction();
  }

  // Whether it rounds nothing, and all that it compares data with is the zero of its function, on both sides of which there was
  // data.
  bool ComparesForItsFunction() {
    if (seen_.rounded && !StoresShortReals()) return Refuse("it rounds what it computes");
    const ProductEnd::Function function = guesses_.front().end.function;
    const bool of_zero = function == ProductEnd::Function::kRelu || function == ProductEnd::Function::kLeaky;
    for (const auto& [number, seen] : seen_.compared) {
      if (!of_zero || number != 0 || !seen.first || !seen.second)
        return Refuse(fmt::format("it compares what it computes with {}", number));
    }
    return true;
  }

  // As elements of half, which are rounded when they are stored.
  bool StoresShortReals() const {
    for (const int child : tree_.node(kernel_).children) {
      const SyntaxNode& parameter = tree_.node(child);
      if (parameter.kind_name != "ParmDecl" || parameter.type.starts_with("const ")) continue;
      const std::string type = parameter.type.find('*') == std::string::npos ? "" : PointedTo(tree_, child);
      if (type == "__half" || type == "__nv_bfloat16") return true;
    }
    return false;
  }

  // Where a size is no multiple of its unit the kernel must not be run, or leaves a product, too.
  bool HoldsUneven(const std::string& name) {
    const auto ran = Run({trials_.Uneven(name), {}, {}});
    if (!ran) return why_.find("too many turns") == std::string::npos;
    const ProductRun run = ran->With();
    const ProductGuess& guess = guesses_.front();
    const ProductComparison compared = Compare(guess, run);
    const ProductLayout layout = guess.With(*ran->values);
    const auto reads_outside = [&](const std::string& buffer, std::int64_t end) {
      const auto read = ran->run.read.find(buffer);
      return read != ran->run.read.end() && !read->second.empty() &&
             (read->second.begin()->first < 0 || read->second.rbegin()->first >= end);
    };
    if ((compared.holds && compared.complete) || compared.outside || reads_outside(guess.a, layout.EndOfA()) ||
        reads_outside(guess.b, layout.EndOfB()))
      return true;
    if (HoldsForWholeTiles(name, run)) return true;
    return Refuse(fmt::format("where {} is no multiple of {}, it leaves parts of a product", name, trials_.UnitOf(name)));
  }

  // Whether it leaves the product of as many whole tiles as a size has: of rows, columns or terms of a sum.
  bool HoldsForWholeTiles(const std::string& name, const ProductRun& uneven) {
    const std::int64_t unit = trials_.UnitOf(name);
    constexpr ProductNumber ProductGuess::*kSizes[] = {&ProductGuess::m, &ProductGuess::n, &ProductGuess::k};
    for (unsigned which = 1; which < 1u << std::size(kSizes); ++which) {
      ProductGuess guess = guesses_.front();
      bool named = true;
      for (std::size_t i = 0; i < std::size(kSizes); ++i) {
        if ((which >> i & 1) == 0) continue;
        ProductNumber& size = guess.*kSizes[i];
        named = named && size.launch == name;
        size = {"", fmt::format("{} / {} * {}", name, unit, unit)};
      }
      const ProductComparison compared = Compare(guess, uneven);
      if (!named || !compared.holds || !compared.complete) continue;
      // Half a unit shows that tiles are no smaller.
      LaunchRuns::Sizes halves = trials_.Small();
      halves[name] += unit / 2;
      const std::string why = why_;
      const auto ran = Run({halves, {}, {}});
      why_ = why;
      if (ran) {
        const ProductComparison of_halves = Compare(guess, ran->With());
        if (!of_halves.holds || !of_halves.complete) continue;
      }
      guesses_ = {guess};
      return true;
    }
    return false;
  }

  // What is no number stays none, or becomes what the function of the guess makes of it.
  bool HoldsForNaN() {
    const ProductGuess& guess = guesses_.front();
    const auto ran = Run({trials_.Small(), {}, {{guess.a, std::numeric_limits<double>::quiet_NaN()}}});
    if (!ran) return false;
    const BufferContents& stored = ran->run.stored.at(guess.c);
    const auto nans = std::count_if(stored.begin(), stored.end(), [](const auto& one) { return std::isnan(one.second); });
    if (nans != 0 && nans != static_cast<std::ptrdiff_t>(stored.size())) return Refuse("what it makes of NaN is not understood");
    const bool hides = guess.end.function == ProductEnd::Function::kRelu;
    if (nans == 0 && !hides) return Refuse("it makes a number of NaN");
    for (ProductGuess& one : guesses_) one.end.keeps_nan = nans != 0;
    return true;
  }

  const MutationContext& context_;
  const SyntaxTree& tree_;
  int kernel_;
  const LaunchDirective& launch_;
  ProductTrials trials_;
  std::vector<ProductGuess> guesses_;
  std::int64_t turns_ = 0;
  // What all runs showed, and whether one of them left a product.
  struct Seen {
    std::set<std::string> names;
    std::map<double, std::pair<bool, bool>> compared;
    std::int64_t largest = 0;
    bool in_order = true, product = false, rounded = false;
  };
  Seen seen_;
  std::string why_;
};

}  // namespace

// Whether the only kernel of a source looks for a maximum beside exponentials. It is no product, and to run it takes long.
static bool IsSoftmax(const SyntaxTree& tree) {
  const auto functions = Functions(tree);
  const auto kernels = std::count_if(functions.begin(), functions.end(), [&](int one) { return IsKernel(tree, one); });
  const auto calls = NodesOfKind(tree, "CallExpr");
  const auto is_maximum = [&](int call) {
    const std::string_view callee = LibraryCallee(tree, call);
    return callee == "fmaxf" || callee == "fmax" || callee == "max";
  };
  return kernels == 1 && CallsExponential(tree.text()) && std::any_of(calls.begin(), calls.end(), is_maximum);
}

std::optional<ProductByResults> FindProductByResults(const MutationContext& context, int kernel, std::string& why) {
  const SyntaxTree& tree = context.tree;
  const SyntaxNode& node = tree.node(kernel);
  if (node.kind_name != "FunctionDecl" || !MayBeProduct(tree, kernel) || IsSoftmax(tree) || IsKnownElsewhere(context, kernel))
    return std::nullopt;
  const LaunchDirective* const launch = OnlyLaunch(context.rendered, node.name);
  if (launch == nullptr || !launch->cluster.empty() || launch->cooperative || context.product_elsewhere) return std::nullopt;
  // What `#if` leaves may depend on sizes that are compiled in; what is left of them in the kernel is no number.
  const auto is_left = [&](const SizeMacro& size) {
    return ContainsName(tree.Text(kernel), size.name) || IsTestedByIf(tree.text(), size.name);
  };
  if (std::any_of(context.rendered.size_macros.begin(), context.rendered.size_macros.end(), is_left)) return std::nullopt;
  std::set<std::string> elements;
  for (const int child : node.children) {
    const SyntaxNode& parameter = tree.node(child);
    if (parameter.kind_name != "ParmDecl" || parameter.type.find('*') == std::string::npos) continue;
    const std::string type = PointedTo(tree, child);
    if (type != "float" && type != "double" && type != "__half" && type != "__nv_bfloat16") return std::nullopt;
    elements.insert(type);
  }
  const bool shorter = elements.contains("__half") || elements.contains("__nv_bfloat16");
  if (elements.size() > 2 || (elements.size() == 2 && (!shorter || !elements.contains("float")))) return std::nullopt;
  if (!elements.contains("double") && HasDoubles(tree, kernel)) return std::nullopt;
  if (shorter && SumsInHalf(tree, kernel)) return std::nullopt;
  if (const std::string decides = RealThatDecides(tree, kernel); !decides.empty()) {
    why = fmt::format("{} decides what it computes", decides);
    return std::nullopt;
  }
  ProductResults results(context, kernel, *launch);
  auto found = results.Find();
  if (!found && results.says_more()) why = results.why();
  return found;
}

}  // namespace evo
