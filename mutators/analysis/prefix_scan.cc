#include "mutators/analysis/prefix_scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "core/error.h"
#include "kernel_templates/brought_parameters.h"
#include "kernel_templates/launch_argument.h"
#include "mutators/analysis/constant_value.h"
#include "mutators/analysis/scan_runs.h"
#include "mutators/analysis/source_query.h"
#include "mutators/analysis/work_sharing.h"

namespace evo {
namespace {

// Combinations of parameter values for which a source is run. With more, only the present values count.
constexpr std::size_t kMostScanSettings = 12;
// How many elements it is given at most: where blocks are small enough, there are more of them than a block has threads, so that
// sums of sums are scanned in rounds. More elements are tried if no smaller blocks were.
constexpr std::int64_t kMostScanned = 5'000;
constexpr std::int64_t kMostScannedAtLast = 70'000;
// A scan of fewer elements at most is not worth another kernel.
constexpr std::int64_t kFewestWorthwhile = 128;

class ScanFinder {
 public:
  explicit ScanFinder(const MutationContext& context)
      : context_(context), tree_(context.tree), runs_(context, launches_, found_) {}

  std::variant<PrefixScan, std::string> Find() {
    if (!FindLaunches() || !FindSize()) return why_;
    const Parameters& present = context_.genome.parameters;
    if (!runs_.IsScan(present, kFewScanned)) return runs_.why();
    for (const std::int64_t elements : runs_.Elements(present, kMostScanned)) {
      if (runs_.IsScan(present, elements)) continue;
      if (runs_.left_elements() && FindMost(elements)) break;
      return runs_.why();
    }
    if (found_.most == 0 && !TryOtherParameters()) return runs_.why();
    FindFunctions();
    return found_;
  }

 private:
  bool Refuse(std::string why) {
    why_ = std::move(why);
    return false;
  }

  int KernelNamed(const std::string& launched) const {
    const std::string name = launched.substr(launched.rfind(':') + 1);
    for (const int function : Functions(tree_)) {
      if (tree_.node(function).name == name && IsKernel(tree_, function)) return function;
    }
    return -1;
  }

  // A source whose kernels neither work together nor have loops resembles no scan, and gets no reason.
  bool FindLaunches() {
    bool resembles = false, in_loop = false;
    for (const Step& step : context_.rendered.steps) {
      resembles = resembles || step.repeat.has_value();
      in_loop = in_loop || step.repeat.has_value();
      if (!step.launch) continue;
      launches_.push_back(&*step.launch);
      const int kernel = KernelNamed(step.launch->kernel);
      if (kernel < 0) return Refuse("");
      for (const int node : Subtree(tree_, kernel)) {
        const std::string& kind = tree_.node(node).kind_name;
        resembles = resembles || kind == "ForStmt" || kind == "WhileStmt" || kind == "DoStmt";
      }
      resembles = resembles || Cooperates(tree_, kernel);
    }
    if (!resembles) return Refuse("");
    if (in_loop)
      return Refuse("they are in a loop, such as one launch for each distance, and only launches that run once are understood");
    for (const LaunchDirective* launch : launches_) {
      const auto same = [&](const LaunchDirective* other) { return other->kernel == launch->kernel; };
      const bool once = std::count_if(launches_.begin(), launches_.end(), same) == 1;
      if (launch->when || (found_.launch != nullptr && (!once || !found_.repeated))) continue;
      found_.launch = launch;
      found_.repeated = !once;
    }
    if (found_.launch == nullptr) return Refuse("each launch has a condition");
    found_.kernel = KernelNamed(found_.launch->kernel);
    for (const LaunchDirective* launch : launches_) {
      const bool known = std::find(found_.others.begin(), found_.others.end(), launch->kernel) != found_.others.end();
      if (launch->kernel != found_.launch->kernel && !known) found_.others.push_back(launch->kernel);
    }
    return true;
  }

  void AddNames(const Expression& expression, std::set<std::string>& names) const {
    for (const std::string& name : expression.Names()) {
      if (!context_.genome.parameters.contains(name)) names.insert(name);
    }
  }

  // Names of sizes in an argument of a kernel that is a number.
  void AddArgument(const std::string& text, std::set<std::string>& names) {
    try {
      const LaunchArgumentText argument = ParseLaunchArgument(text);
      const Expression expression = Expression::Parse(argument.text);
      AddNames(expression, names);
      const bool cast = argument.kind == LaunchArgumentText::Kind::kCast;
      found_.wide = found_.wide || (cast && ByteSize(argument.type.dtype) == 8 && !expression.Names().empty());
    } catch (const Error&) {
      names.insert(text);
    }
  }

  bool FindSize() {
    std::set<std::string> names;
    for (const LaunchDirective* launch : launches_) {
      for (const auto* dimensions : {&launch->grid, &launch->block}) {
        for (const Expression& expression : *dimensions) AddNames(expression, names);
      }
      AddNames(launch->shared, names);
      std::size_t at = 0;
      for (const int child : tree_.node(KernelNamed(launch->kernel)).children) {
        const SyntaxNode& parameter = tree_.node(child);
        if (parameter.kind_name != "ParmDecl" || at >= launch->arguments.size()) continue;
        const std::string type = WithoutConst(parameter.type);
        const std::string& text = launch->arguments[at++];
        if (type.find('*') == std::string::npos && type != "float" && type != "double") AddArgument(text, names);
      }
    }
    for (const Workspace& workspace : context_.rendered.workspaces) {
      for (const Expression& expression : workspace.shape) AddNames(expression, names);
    }
    for (const SizeMacro& macro : context_.rendered.size_macros) AddNames(macro.value, names);
    // Several sizes: rows, or something else that is no scan of all elements.
    if (names.size() != 1) return Refuse("");
    found_.size = *names.begin();
    return true;
  }

  // The first scan of every course is made for as many elements as its block has threads. What is right for some numbers of
  // elements is used for those only.
  bool FindMost(std::int64_t wrong) {
    const Parameters& present = context_.genome.parameters;
    const bool conditional = std::any_of(launches_.begin(), launches_.end(), [](const auto* launch) { return launch->when; });
    if (conditional) return false;
    if (wrong > kFewScanned) found_.most = runs_.MostBetween(present, kFewScanned, wrong);
    if (found_.most < kFewestWorthwhile || runs_.IsScan(present, found_.most + 1) || !runs_.left_elements()) return false;
    for (const std::int64_t elements : {std::int64_t{1}, found_.most / 2 + 1, found_.most - 1}) {
      if (!runs_.IsScan(present, elements)) return false;
    }
    bool hidden = false;
    found_.parameters = Deciding(hidden);
    return true;
  }

  // Parameters on which the work depends: the others may have any value.
  Parameters Deciding(bool& hidden) {
    const SearchSpace& space = context_.rendered.space;
    const auto& present = context_.genome.parameters;
    const auto declared = [&](const std::string& name) {
      return std::any_of(space.parameters.begin(), space.parameters.end(),
                         [&](const Parameter& one) { return one.name == name; });
    };
    Parameters deciding;
    for (const std::string& name : runs_.names()) {
      if (declared(name) && present.contains(name)) {
        deciding[name] = present.at(name);
        continue;
      }
      for (const auto& [behind, value] : ParametersBehind(context_, name)) {
        deciding[behind] = value;
        hidden = true;
      }
    }
    for (const Parameter& parameter : space.parameters) {
      const auto names = [&](const LaunchDirective* launch) {
        std::string all = fmt::format("{} ", launch->shared.text());
        for (const auto* dimensions : {&launch->grid, &launch->block}) {
          for (const Expression& expression : *dimensions) all += expression.text() + " ";
        }
        for (const std::string& argument : launch->arguments) all += argument + " ";
        if (launch->when) all += launch->when->text();
        return ContainsName(all, parameter.name);
      };
      if (present.contains(parameter.name) && std::any_of(launches_.begin(), launches_.end(), names))
        deciding[parameter.name] = present.at(parameter.name);
    }
    return deciding;
  }

  bool TryOtherParameters() {
    bool hidden = false;
    const Parameters deciding = Deciding(hidden);
    std::vector<Parameters> settings{context_.genome.parameters};
    for (const Parameter& parameter : context_.rendered.space.parameters) {
      if (!deciding.contains(parameter.name) || settings.size() > kMostScanSettings * 8) continue;
      std::vector<Parameters> more;
      for (const Parameters& setting : settings) {
        for (const std::int64_t value : parameter.values) {
          more.push_back(setting);
          more.back()[parameter.name] = value;
        }
      }
      settings = std::move(more);
    }
    const SearchSpace& space = context_.rendered.space;
    std::erase_if(settings, [&](const Parameters& one) { return space.Violated(one) || one == context_.genome.parameters; });
    bool all = !hidden && settings.size() <= kMostScanSettings,
         rounds = runs_.HasRounds(context_.genome.parameters, kMostScanned);
    for (std::size_t i = 0; all && i < settings.size(); ++i) {
      for (const std::int64_t elements : runs_.Elements(settings[i], kMostScanned))
        all = all && runs_.IsScan(settings[i], elements);
      rounds = rounds || runs_.HasRounds(settings[i], kMostScanned);
    }
    if (!all) found_.parameters = deciding;
    const Parameters& present = context_.genome.parameters;
    return (all && rounds) || !runs_.HasRounds(present, kMostScannedAtLast) || runs_.IsScan(present, runs_.RoundsOf(present));
  }

  void FindFunctions() {
    std::set<int> functions;
    for (const int function : Functions(tree_)) {
      const auto named = [&](const LaunchDirective* launch) {
        return launch->kernel.substr(launch->kernel.rfind(':') + 1) == tree_.node(function).name;
      };
      if (std::any_of(launches_.begin(), launches_.end(), named)) functions.insert(function);
    }
    for (std::size_t before = 0; before != functions.size();) {
      before = functions.size();
      for (const int function : Functions(tree_)) {
        const auto& uses = tree_.UsesOf(function);
        const auto gone = [&](int use) { return functions.contains(tree_.node(use).function); };
        if (!uses.empty() && std::all_of(uses.begin(), uses.end(), gone)) functions.insert(function);
      }
    }
    found_.functions.assign(functions.begin(), functions.end());
  }

  const MutationContext& context_;
  const SyntaxTree& tree_;
  std::vector<const LaunchDirective*> launches_;
  PrefixScan found_;
  ScanRuns runs_;
  std::string why_;
};

}  // namespace

std::variant<PrefixScan, std::string> AsPrefixScan(const MutationContext& context) { return ScanFinder(context).Find(); }

}  // namespace evo
