#include "mutators/analysis/products/product_finder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "mutators/analysis/numbers/fingerprint.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/product_store.h"
#include "mutators/analysis/source/source_query.h"

namespace evo {
namespace {

// Of threads that work together: a block for 128 x 128 elements has 3 million in a launch with large sizes, which takes two
// seconds.
constexpr std::int64_t kMostTurnsOfProducts = 12'000'000;
constexpr std::size_t kMostProductSizes = 6;
// Of a third launch, whose sizes are beyond all numbers of the code.
constexpr std::int64_t kMostProductNumber = 300;
// Threads of a product with the sizes above, with some beyond its edges.
constexpr std::int64_t kMostProductThreads = 17'000;
constexpr std::size_t kThreadsOfLarge = 24, kBlocksOfLarge = 4, kDecidingThreads = 3;

// The products of a sum of integers, whose parts may be added up by themselves, as sums so far.
void AddTerms(const ThreadSum* sum, std::vector<double>& steps, std::set<int>& read) {
  std::vector<const ThreadSum*> chain;
  for (const ThreadSum* at = sum; at != nullptr; at = at->before.get()) chain.push_back(at);
  for (auto at = chain.rbegin(); at != chain.rend(); ++at) {
    if ((*at)->added) {
      AddTerms((*at)->added.get(), steps, read);
    } else if ((*at)->b >= 0) {
      const double product = RandomElement((*at)->a, (*at)->at_a) * RandomElement((*at)->b, (*at)->at_b);
      steps.push_back((steps.empty() ? 0 : steps.back()) + product);
      read.insert({(*at)->a, (*at)->b});
    }
  }
}

// Integers that what follows the sum may name.
std::set<int> NotedIn(const SyntaxTree& tree, int kernel, const ConvolutionParts& parts) {
  std::set<int> noted{parts.accumulator};
  for (const int node : Subtree(tree, kernel)) {
    const std::string type = WithoutConst(tree.node(node).type);
    if (tree.node(node).kind_name == "VarDecl" && IsArithmetic(type) && type != "float" && type != "double") noted.insert(node);
  }
  return noted;
}

}  // namespace

ProductFinder::ProductFinder(const MutationContext& context, int kernel, const LaunchDirective& launch, ConvolutionParts parts,
                             ProductSizes sizes)
    : tree_(context.tree),
      parts_(std::move(parts)),
      sizes_{sizes},
      written_(WrittenIn(tree_, kernel)),
      runs_(context, launch, kernel, parts_.loop, NotedIn(tree_, kernel, parts_)) {
  FindBatchAxis(launch);
  FindTiles(launch);
  runs_.AllowTurns(kMostTurnsOfProducts);
  runs_.given().words = IsOfWords(tree_, kernel);
  if (parts_.plain())
    runs_.TellSums();
  else
    runs_.Follow(parts_.accumulator);
}

bool ProductFinder::Find() {
  if (!runs_.refusal().empty()) return Refuse(runs_.refusal());
  if (runs_.names().size() > kMostProductSizes) return Refuse("its launch line names too many sizes");
  for (const std::size_t number : {0u, 1u}) {
    if (!RunAll(number)) return false;
  }
  if (!FindRoles()) return Refuse(std::string(kNoProductOfMatrices));
  if (!RunLarge()) return false;
  if (CheckDeciding() || !sizes_.of.tiles || roles_.m != ProductRoles::kMeasured) return why_.empty();
  // Of whole tiles, too, a parameter may say how many rows there are.
  for (const auto& [parameter, expression] : runs_.arguments()) {
    const auto is_height = [&](const ProductLaunch& launch) {
      const auto& integers = launch.setting.integers;
      return integers.at(parameter) == launch.RowsOf(integers.at(roles_.n));
    };
    if (written_.contains(parameter) || !is_height(launches_[0]) || !is_height(launches_[1])) continue;
    roles_.m = parameter;
    why_.clear();
    if (CheckDeciding()) return true;
  }
  return false;
}

bool ProductFinder::Refuse(std::string why) {
  why_ = std::move(why);
  return false;
}

// A thread's sums where it may store several, by what it stores.
std::vector<ProductSum> ProductFinder::PlainSums(const LaunchRuns::Setting& setting, std::int64_t thread,
                                                 const ThreadTrace& trace) {
  const auto& [buffer, elements] = *trace.stores.begin();
  if (trace.stores.size() > 1 || (output_ >= 0 && output_ != buffer)) Refuse("its threads store to two buffers");
  output_ = buffer;
  std::vector<ProductSum> sums;
  for (const auto& [element, access] : elements) {
    ProductSum& sum = sums.emplace_back();
    sum.element = element;
    sum.integers = LaunchRuns::BuiltinsOf(setting, thread);
    sum.stored = access.value;
    sum.batch = BatchOf(setting, thread);
    const ThreadSum* at = access.inner ? access.inner.get() : access.sum.get();
    if (access.whole) {
      sizes_.whole = true;
      if (trace.reals_compared) Refuse("it compares the integers that it sums up");
      AddTerms(at, sum.steps, read_);
      if (sum.steps.empty()) Refuse("what it stores is no sum of products");
      continue;
    }
    while (at != nullptr && at->b < 0 && !at->added) at = at->before.get();
    for (; at != nullptr; at = at->before.get()) {
      if (at->added) Refuse("it adds up parts of a sum by themselves, which is another order");
      if (at->b < 0) break;
      read_.insert({at->a, at->b});
      sum.steps.push_back(at->value);
    }
    std::reverse(sum.steps.begin(), sum.steps.end());
    if (sum.steps.empty()) Refuse("what it stores is no sum of products");
  }
  return why_.empty() ? sums : std::vector<ProductSum>();
}

// A thread's sums; none if it stores nothing or, with a reason, is not understood.
std::vector<ProductSum> ProductFinder::SumsOf(const LaunchRuns::Setting& setting, std::int64_t thread) {
  const ThreadTrace trace = runs_.Run(setting, thread);
  largest_ = std::max(largest_, trace.largest_number);
  sizes_.compares = sizes_.compares || trace.reals_compared;
  sizes_.widest = std::max(sizes_.widest, trace.widest);
  sizes_.misaligned = std::max(sizes_.misaligned, trace.misaligned);
  if (!trace.refusal.empty()) Refuse(trace.refusal);
  if (trace.stores.empty() || !why_.empty()) return {};
  if (parts_.plain()) return PlainSums(setting, thread, trace);
  const auto& [buffer, elements] = *trace.stores.begin();
  if (trace.stores.size() > 1 || elements.size() > 1 || trace.after.times != 1) Refuse(std::string(kSeveralElements));
  if (output_ >= 0 && output_ != buffer) Refuse("its threads store to two buffers");
  if (trace.after.rounded || trace.after.reals_compared) Refuse("it rounds or compares parts of its sum");
  output_ = buffer;
  for (const auto& [read, indices] : trace.after.reads) read_.insert(read);
  ProductSum sum;
  sum.element = elements.begin()->first;
  sum.integers = LaunchRuns::BuiltinsOf(setting, thread);
  sum.stored = elements.begin()->second.value;
  sum.batch = BatchOf(setting, thread);
  const auto before = trace.before.values.find(parts_.accumulator);
  if (!parts_.starts_at_zero) {
    if (before == trace.before.values.end())
      Refuse("its sum has no value before its loop");
    else
      sum.start = before->second.real;
  }
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

RoleFactors ProductFinder::FactorsOf(int role) const {
  const auto found = sizes_.multiples.find(role);
  return found == sizes_.multiples.end() ? RoleFactors{role} : found->second;
}

void ProductFinder::AddRole(RoleFactors factors, std::vector<int>& integers) {
  const int next = static_cast<int>(tree_.nodes().size() + sizes_.multiples.size());
  sizes_.multiples[next] = factors;
  integers.push_back(next);
}

void ProductFinder::AddMultiples(LaunchRuns::Setting& setting) const {
  for (const auto& [role, factors] : sizes_.multiples)
    setting.integers[role] =
        setting.integers.at(factors.parameter) * factors.number * (factors.times < 0 ? 1 : setting.integers.at(factors.times));
}

bool ProductFinder::RunAll(std::size_t number) {
  LaunchRuns::Sizes sizes;
  for (std::size_t i = 0; i < runs_.names().size(); ++i) sizes[runs_.names()[i]] = SizeOf(number, i);
  if (sizes_.batch_axis >= 0) sizes[sizes_.batch] = 2;
  const auto setting = runs_.SettingOf(sizes);
  sizes_.others = !setting;  // with other sizes it may have threads
  sizes_.threads = setting.has_value();
  if (!setting || (setting->grid[2] != 1 && sizes_.batch_axis != 2))
    return Refuse("its launch line has a third dimension, or passes what is no number");
  sizes_.many = setting->Threads() > kMostProductThreads;
  if (sizes_.many) return Refuse("it has more threads than a product of such sizes has elements");
  launches_[number] = {};
  launches_[number].setting = *setting;
  launches_[number].sizes = sizes;
  for (std::int64_t thread = 0; thread < setting->Threads(); ++thread) {
    for (ProductSum& sum : SumsOf(*setting, thread)) {
      auto& sums = sum.batch == 0 ? launches_[number].sums : launches_[number].of_others;
      sums.push_back(std::move(sum));
    }
    if (why_.empty()) continue;
    sizes_.others = sizes_.misaligned > 0 || (sizes_.widest > 1 && !parts_.plain());
    return false;
  }
  sizes_.others = true;
  return !launches_[number].sums.empty() || Refuse("no thread stores anything in a launch with sizes from 7 to 50");
}

bool ProductFinder::FindRoles() {
  std::vector<int> integers;
  for (const auto& [parameter, expression] : runs_.arguments()) {
    if (!written_.contains(parameter)) integers.push_back(parameter);
  }
  read_.erase(output_);
  // Arrays in constant memory are not copied by tiles.
  std::erase_if(read_, [&](int one) { return tree_.node(one).kind_name != "ParmDecl"; });
  // What it accesses at once may be counted as one.
  const std::size_t parameters = integers.size();
  for (std::int64_t factor = 2; factor <= sizes_.widest; factor *= 2) {
    for (std::size_t i = 0; i < parameters; ++i) AddRole({integers[i], factor}, integers);
  }
  for (std::size_t i = 0; i < parameters && sizes_.of.products; ++i) {
    for (std::size_t j = i; j < parameters; ++j) AddRole({integers[i], 1, integers[j]}, integers);
  }
  for (ProductLaunch& launch : launches_) AddMultiples(launch.setting);
  const auto roles = ProductRolesOf(launches_, integers, read_, sizes_.of.tiles);
  if (roles) roles_ = *roles;
  return roles && (sizes_.batch_axis < 0 || AddDistances(roles_, launches_, integers));
}

bool ProductFinder::RunLarge() {
  if (largest_ > kMostProductNumber) return Refuse(fmt::format("it has the number {}, and larger sizes are not tried", largest_));
  LaunchRuns::Sizes sizes;
  std::int64_t next = std::max<std::int64_t>(largest_, 50);
  for (const std::string& name : runs_.names()) {
    const std::int64_t multiple = sizes_.of.multiple;
    const std::int64_t by = TileOf(name);
    next = sizes_.of.tiles ? next + by - next % by : multiple > 1 ? ((next / multiple + 1) | 1) * multiple : next + 3;
    sizes[name] = next;
  }
  auto setting = runs_.SettingOf(sizes);
  if (!setting) return Refuse("its launch line has no threads where sizes are large");
  AddMultiples(*setting);
  std::uint64_t random = 1;
  // Of several products, some that are far from the first.
  const std::size_t of_blocks = sizes_.batch_axis < 0 ? 1 : kBlocksOfLarge;
  for (std::size_t i = 0; i < (runs_.together() ? of_blocks : kThreadsOfLarge); ++i) {
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
bool ProductFinder::IsAllowed(int symbol, const std::set<int>& used) const {
  if (symbol < -1 || used.contains(symbol)) return true;
  if (!runs_.threads().block_constants().contains(symbol)) return false;
  const auto named = NamedIn(tree_, tree_.node(symbol).children.back());
  return std::all_of(named.begin(), named.end(),
                     [&](int name) { return tree_.node(name).function < 0 || IsAllowed(name, used); });
}

// Nothing but sizes and the thread may decide what it does.
bool ProductFinder::CheckDeciding() {
  std::set<int> used;
  for (const int role : {roles_.m, roles_.n, roles_.k, roles_.by_a, roles_.by_b, roles_.by_c, roles_.next_a.a, roles_.next_a.b,
                         roles_.next_b.a, roles_.next_b.b, roles_.next_c.a, roles_.next_c.b})
    used.insert({FactorsOf(role).parameter, FactorsOf(role).times});
  // A leading dimension for which the launch line passes what is another size, too.
  const std::set<int> named = used;
  for (const auto& [parameter, expression] : runs_.arguments()) {
    for (const auto& [other, passed] : runs_.arguments()) {
      if (named.contains(other) && passed.text() == expression.text() && !written_.contains(parameter)) used.insert(parameter);
    }
  }
  // What the launch line passes as a number is the same for all sizes.
  for (const auto& [parameter, expression] : runs_.arguments()) {
    if (expression.Names().empty() && !written_.contains(parameter)) used.insert(parameter);
  }
  const LaunchRuns::Setting& setting = launches_[1].setting;
  const std::int64_t threads = runs_.together() ? setting.block[0] * setting.block[1] * setting.block[2] : setting.Threads();
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

}  // namespace evo
