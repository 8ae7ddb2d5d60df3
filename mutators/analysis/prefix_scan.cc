#include "mutators/analysis/prefix_scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "core/error.h"
#include "kernel_templates/brought_parameters.h"
#include "kernel_templates/launch_argument.h"
#include "mutators/analysis/constant_value.h"
#include "mutators/analysis/fingerprint.h"
#include "mutators/analysis/grid_run.h"
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
// Fewer than a warp has and more, odd; of any block a part.
constexpr std::int64_t kFewScanned = 37;

class ScanFinder {
 public:
  explicit ScanFinder(const MutationContext& context) : context_(context), tree_(context.tree), run_(context) {}

  std::variant<PrefixScan, std::string> Find() {
    if (!FindLaunches() || !FindSize()) return why_;
    if (!IsScan(context_.genome.parameters, kFewScanned)) return why_;
    for (const std::int64_t elements : Elements(context_.genome.parameters, kMostScanned)) {
      if (!IsScan(context_.genome.parameters, elements)) return why_;
    }
    if (!TryOtherParameters()) return why_;
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
    bool resembles = false;
    for (const Step& step : context_.rendered.steps) {
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
    for (const LaunchDirective* launch : launches_) {
      const auto same = [&](const LaunchDirective* other) { return other->kernel == launch->kernel; };
      const bool once = std::count_if(launches_.begin(), launches_.end(), same) == 1;
      if (found_.launch == nullptr && once && !launch->when) found_.launch = launch;
    }
    if (found_.launch == nullptr) return Refuse("no kernel is launched just once");
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

  std::int64_t ThreadsOf(const Parameters& parameters) const {
    std::int64_t threads = 1;
    Variables variables = ToVariables(parameters);
    variables[found_.size] = Number::Integer(kFewScanned);
    for (const LaunchDirective* launch : launches_) {
      try {
        threads = std::max(threads, launch->block[0].EvaluateInteger(variables));
      } catch (const Error&) {
        continue;
      }
    }
    return threads;
  }

  // Elements for more blocks than a block has threads.
  std::int64_t RoundsOf(const Parameters& parameters) const {
    const std::int64_t threads = ThreadsOf(parameters);
    return threads * (threads + 1) + 3;
  }
  bool HasRounds(const Parameters& parameters, std::int64_t most) const { return RoundsOf(parameters) <= most; }

  // One, a block and one, some blocks and a part of one, more.
  std::vector<std::int64_t> Elements(const Parameters& parameters, std::int64_t most) const {
    const std::int64_t threads = ThreadsOf(parameters);
    std::vector<std::int64_t> numbers{1, threads + 1, 3 * threads + 5, 2100};
    if (HasRounds(parameters, most)) numbers.push_back(RoundsOf(parameters));
    return numbers;
  }

  // Where a block takes a ticket, also with tickets in another order.
  bool IsScan(const Parameters& parameters, std::int64_t elements) {
    bool has_tickets = false;
    const GridSetting setting{parameters, found_.size, elements, parameters == context_.genome.parameters};
    if (!IsScanIn(setting, has_tickets)) return false;
    GridSetting reversed = setting;
    reversed.reversed = true;
    return !has_tickets || IsScanIn(reversed, has_tickets);
  }

  bool IsScanIn(const GridSetting& setting, bool& has_tickets) {
    const std::int64_t elements = setting.elements;
    const GridTrace trace = run_.Run(setting);
    has_tickets = trace.has_tickets;
    names_.insert(trace.names.begin(), trace.names.end());
    if (!trace.refusal.empty()) return Refuse(trace.refusal);
    const GridMemory* output = nullptr;
    for (const GridMemory& buffer : trace.buffers) {
      const auto written = [](const GridCell& cell) { return cell.write.launch >= 0; };
      if (buffer.workspace || std::none_of(buffer.cells.begin(), buffer.cells.end(), written)) continue;
      if (output != nullptr) return Refuse("it stores into more than one array");
      output = &buffer;
    }
    // In place, one element stays as it is.
    if (output == nullptr && elements == 1 && found_.input == found_.output && !found_.input.empty() && !found_.exclusive)
      return true;
    if (output == nullptr) return Refuse("it stores nothing");
    if (output->type != "float" && output->type != "int" && output->type != "unsigned int")
      return Refuse(fmt::format("its elements are of {}, and float, int and unsigned are understood", output->type));
    if (!found_.input.empty())
      return output->name == found_.output ? IsScanOf(trace, *output) : Refuse("it stores into another array at times");
    std::string first;
    for (const GridMemory& buffer : trace.buffers) {
      if (buffer.fingerprints < 0 || buffer.type != output->type) continue;
      found_.input = buffer.name;
      found_.output = output->name;
      found_.type = output->type;
      for (const bool exclusive : {false, true}) {
        found_.exclusive = exclusive;
        if (IsScanOf(trace, *output)) return true;
        if (first.empty()) first = why_;
      }
    }
    return Refuse(first.empty() ? "its output has another type than its inputs" : first);
  }

  bool IsScanOf(const GridTrace& trace, const GridMemory& output) {
    const auto is_input = [&](const GridMemory& one) { return one.name == found_.input; };
    const GridMemory& input = *std::find_if(trace.buffers.begin(), trace.buffers.end(), is_input);
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(output.elements); ++i) {
      const GridCell& cell = output.cells[i];
      const std::string place = fmt::format("of {} elements, {}[{}]", output.elements, output.name, i);
      if (cell.write.launch < 0 && &input != &output) return Refuse(place + " is not stored");
      if (cell.known == Knowledge::kUnknown)
        return Refuse(place + " is not understood" + (trace.unknown.empty() ? "" : ": " + trace.unknown));
      const std::uint64_t element = FingerprintOf(input.fingerprints + static_cast<std::int64_t>(i));
      const auto number = static_cast<std::uint64_t>(cell.number);
      if (number != (found_.exclusive ? sum : sum + element)) return Refuse(place + " is no prefix sum");
      // An input that is not read to its end may end earlier.
      if (i >= input.cells.size() || input.cells[i].read.launch < 0)
        return Refuse(fmt::format("it does not read all of {}", input.name));
      sum += element;
    }
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
    for (const std::string& name : names_) {
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
    bool all = !hidden && settings.size() <= kMostScanSettings, rounds = HasRounds(context_.genome.parameters, kMostScanned);
    for (std::size_t i = 0; all && i < settings.size(); ++i) {
      for (const std::int64_t elements : Elements(settings[i], kMostScanned)) all = all && IsScan(settings[i], elements);
      rounds = rounds || HasRounds(settings[i], kMostScanned);
    }
    if (!all) found_.parameters = deciding;
    const Parameters& present = context_.genome.parameters;
    return (all && rounds) || !HasRounds(present, kMostScannedAtLast) || IsScan(present, RoundsOf(present));
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
  GridRun run_;
  std::vector<const LaunchDirective*> launches_;
  std::set<std::string> names_;
  PrefixScan found_;
  std::string why_;
};

}  // namespace

std::variant<PrefixScan, std::string> AsPrefixScan(const MutationContext& context) { return ScanFinder(context).Find(); }

}  // namespace evo
