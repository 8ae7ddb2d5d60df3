// Which launches of the host a task takes over.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/error.h"
#include "import/draft_builder.h"
#include "import/host_facts.h"
#include "import/launch_reach.h"
#include "import/linked_launches.h"
#include "import/step_kernels.h"
#include "import/template_types.h"
#include "import/unrolled_recursion.h"

namespace evo {
namespace {

bool IsSame(const SourceProgram& program, const HostLaunch& a, const HostLaunch& b) {
  return a.name == b.name && a.function == b.function &&
         std::equal(a.arguments.begin(), a.arguments.end(), b.arguments.begin(), b.arguments.end(),
                    [&](const SourceRange& one, const SourceRange& other) { return program.Text(one) == program.Text(other); });
}

// Whether a function is another one, or calls it by way of others.
bool Reaches(const SourceProgram& program, const HostCode& host, const std::string& from, const std::string& to) {
  std::set<std::string> reached{from};
  for (std::size_t before = 0; before != reached.size() && !reached.contains(to);) {
    before = reached.size();
    for (const HostCall& call : host.calls()) {
      if (call.function < 0 || program.FindFunction(call.name) < 0) continue;
      const ProgramFunction& caller = program.functions()[static_cast<std::size_t>(call.function)];
      if (reached.contains(caller.name) && caller.body.Contains(call.range)) reached.insert(call.name);
    }
  }
  return reached.contains(to);
}

class LaunchTaker {
 public:
  LaunchTaker(const SourceProgram& program, HostCode& host, std::vector<std::string>& notes)
      : program_(program), tree_(program.tree()), host_(host), reach_(program, host), notes_(notes) {}

  std::vector<TakenLaunch> Run(const std::vector<std::string>& names) {
    if (names.empty() && Kernels().size() > 1) {
      if (std::vector<TakenLaunch> chain = Chain(Kernels(), "; --kernel takes some of them"); !chain.empty()) return chain;
    }
    const std::vector<const ProgramFunction*> kernels = Choose(names);
    if (kernels.size() > 1) {
      const std::vector<TakenLaunch> chain = Chain(kernels, "");
      const auto is_in_chain = [&](const ProgramFunction* kernel) {
        return std::any_of(chain.begin(), chain.end(), [&](const TakenLaunch& one) { return one.kernel == kernel; });
      };
      if (chain.size() > kernels.size() && std::all_of(kernels.begin(), kernels.end(), is_in_chain)) return chain;
    }
    std::vector<TakenLaunch> taken;
    const HostLaunch* first = nullptr;
    for (const ProgramFunction* kernel : kernels) {
      std::vector<const HostLaunch*> launches;
      for (const HostLaunch& launch : host_.launches()) {
        if (launch.name == kernel->name && launch.arguments.size() <= kernel->parameters.size()) launches.push_back(&launch);
      }
      const HostLaunch* best = Best(launches);
      if (best == nullptr) {
        taken.push_back({kernel});
        continue;
      }
      if (first == nullptr) first = best;
      taken.push_back({kernel, best});
      AddTurns(taken, *kernel, launches, *best);
    }
    std::stable_sort(taken.begin(), taken.end(), [&](const TakenLaunch& a, const TakenLaunch& b) {
      return a.launch != nullptr && b.launch != nullptr && IsBefore(host_, *a.launch, *b.launch);
    });
    for (TakenLaunch& one : taken) Fill(one);
    return taken;
  }

 private:
  std::string List(const std::vector<const ProgramFunction*>& kernels) const {
    std::vector<std::string> parts;
    for (const ProgramFunction* kernel : kernels)
      parts.push_back(fmt::format("{} ({}{})", kernel->qualified, IsStepKernel(kernel->name) ? "for what the host does, " : "",
                                  program_.PlaceOf(kernel->range.begin)));
    return fmt::format("{}", fmt::join(parts, ", "));
  }

  // The launches that the host gets to, in their order, without those that only repeat one; empty if they are in functions that
  // nothing calls together.
  std::vector<TakenLaunch> OneAfterAnother(const std::vector<const ProgramFunction*>& all) {
    std::vector<TakenLaunch> taken;
    int root = -2;
    // Functions that nothing calls may be for others; what `main` gets to is what the program does.
    const auto is_of_main = [&](const HostLaunch& launch) {
      const int first = host_.PathTo(launch).front()->function;
      return first >= 0 && program_.functions()[static_cast<std::size_t>(first)].name == "main";
    };
    const bool has_main = std::any_of(host_.launches().begin(), host_.launches().end(), is_of_main);
    for (const HostLaunch& launch : host_.launches()) {
      if (has_main && !is_of_main(launch)) continue;
      const auto kernel = std::find_if(all.begin(), all.end(), [&](const auto* one) {
        return one->name == launch.name && launch.arguments.size() <= one->parameters.size();
      });
      if (kernel == all.end() || !reach_.IsReached(launch)) continue;
      if (std::any_of(taken.begin(), taken.end(),
                      [&](const TakenLaunch& other) { return IsSame(program_, *other.launch, launch); }))
        continue;
      const std::vector<const HostCall*> path = host_.PathTo(launch);
      if (root != -2 && path.front()->function != root) return {};
      root = path.front()->function;
      taken.push_back({*kernel, &launch});
    }
    std::stable_sort(taken.begin(), taken.end(),
                     [&](const auto& a, const auto& b) { return IsBefore(host_, *a.launch, *b.launch); });
    return taken;
  }

  void RefuseRecursion(const HostLaunch& launch) const {
    for (const HostCall* step : host_.PathTo(launch)) {
      if (step->function < 0) continue;
      const ProgramFunction& function = program_.functions()[static_cast<std::size_t>(step->function)];
      for (const HostCall& call : host_.calls()) {
        if (call.function != step->function || !function.body.Contains(call.range) ||
            !Reaches(program_, host_, call.name, function.name))
          continue;
        throw UsageError(
            fmt::format("{} calls itself ({}): how often it launches kernels is not understood; write its levels as a "
                        "loop or one after another, or name one kernel with --kernel",
                        PlainName(function.name), program_.PlaceOf(call.range.begin)));
      }
    }
  }

  // The only launch, or launches each of which reads what one before it has written, or writes what one behind it reads. Kernels
  // that compute the same one after another, such as versions of one, are not. Empty if neither.
  std::vector<TakenLaunch> Chain(const std::vector<const ProgramFunction*>& all, std::string_view choice) {
    std::vector<TakenLaunch> launches = OneAfterAnother(all);
    for (const TakenLaunch& one : launches) RefuseRecursion(*one.launch);
    for (TakenLaunch& one : launches) Fill(one);
    if (!launches.empty()) launches.front().conditions = reach_.OfLevels();
    NoteLevels(launches);
    const std::size_t found = launches.size();
    launches = LinkedLaunches(program_, host_, std::move(launches));
    std::vector<const ProgramFunction*> kernels;
    for (const TakenLaunch& one : launches) kernels.push_back(one.kernel);
    if (launches.size() < found && !launches.empty())
      notes_.push_back(
          fmt::format("of {} launches of the host, {} {} taken: others are versions of it, or have nothing to do with "
                      "it; --kernel takes others",
                      found, List(kernels), launches.size() == 1 ? "was" : "were"));
    else if (launches.size() == 1)
      notes_.push_back(fmt::format("{} is the only kernel that is launched", kernels.front()->qualified));
    else if (!launches.empty())
      notes_.push_back(fmt::format("the host launches {}, one after another{}", List(kernels), choice));
    return launches;
  }

  // How many levels of a function that calls itself have launches.
  void NoteLevels(const std::vector<TakenLaunch>& launches) {
    std::map<std::string, int> most;
    for (const TakenLaunch& one : launches) {
      const auto level = LevelOf(program_, one.launch->function);
      if (!level) continue;
      int& known = most[std::string(PlainName(program_.functions()[static_cast<std::size_t>(one.launch->function)].name))];
      known = std::max(known, *level + 1);
    }
    for (const auto& [name, levels] : most) {
      notes_.push_back(fmt::format(
          "{} calls itself: with the host's sizes there {} {} level{} of launches, and the sizes of all cases have as many", name,
          levels == 1 ? "is" : "are", levels, levels == 1 ? "" : "s"));
    }
  }

  std::vector<const ProgramFunction*> Kernels() const {
    std::vector<const ProgramFunction*> all;
    for (const ProgramFunction& function : program_.functions()) {
      if (function.kernel) all.push_back(&function);
    }
    return all;
  }

  std::vector<const ProgramFunction*> Choose(const std::vector<std::string>& names) const {
    const std::vector<const ProgramFunction*> all = Kernels();
    if (all.empty()) throw UsageError("no __global__ function is defined in it");
    if (names.empty()) {
      if (all.size() == 1) return all;
      throw UsageError(fmt::format("{} kernels: {}; name one with --kernel", all.size(), List(all)));
    }
    std::vector<const ProgramFunction*> chosen;
    for (const std::string& name : names) {
      const auto found =
          std::find_if(all.begin(), all.end(), [&](const auto* f) { return f->name == name || f->qualified == name; });
      if (found == all.end()) throw UsageError(fmt::format("no kernel '{}'; there are {}", name, List(all)));
      if (std::find(chosen.begin(), chosen.end(), *found) == chosen.end()) chosen.push_back(*found);
    }
    return chosen;
  }

  const HostLaunch* Best(const std::vector<const HostLaunch*>& launches) {
    for (const HostLaunch* launch : launches) {
      if (reach_.IsReached(*launch)) return launch;
    }
    return launches.empty() ? nullptr : launches.front();
  }

  // Further launches of the same kernel in the same block of statements, with other buffers: they take turns.
  void AddTurns(std::vector<TakenLaunch>& taken, const ProgramFunction& kernel, const std::vector<const HostLaunch*>& launches,
                const HostLaunch& best) {
    int others = 0;
    for (const HostLaunch* launch : launches) {
      if (launch == &best) continue;
      const bool same_place = Block(*launch) == Block(best) && launch->arguments.size() == best.arguments.size();
      bool same = same_place;
      bool permuted = same_place;
      for (std::size_t i = 0; same_place && i < best.arguments.size(); ++i) {
        same = same && program_.Text(launch->arguments[i]) == program_.Text(best.arguments[i]);
        const auto has = [&](const SourceRange& argument) {
          return program_.Text(argument) == program_.Text(launch->arguments[i]);
        };
        permuted = permuted && std::any_of(best.arguments.begin(), best.arguments.end(), has);
      }
      if (permuted && !same) {
        taken.push_back({&kernel, launch});
      } else if (!same) {
        ++others;
      }
    }
    if (others > 0) {
      notes_.push_back(fmt::format("{} is launched {} more time{} with other arguments; the launch in {} was taken", kernel.name,
                                   others, others > 1 ? "s" : "", program_.PlaceOf(best.range.begin)));
    }
  }

  int Block(const HostLaunch& launch) const {
    int block = -1;
    for (std::size_t i = 0; i < tree_.nodes().size(); ++i) {
      if (tree_.nodes()[i].kind_name == "CompoundStmt" && tree_.nodes()[i].range.Contains(launch.range))
        block = static_cast<int>(i);
    }
    return block;
  }

  void Fill(TakenLaunch& one) {
    one.use = UseOf(program_, *one.kernel);
    const HostLaunch* launch = one.launch;
    const auto& parameters = one.kernel->parameters;
    if (launch != nullptr) {
      for (const SourceRange& range : launch->template_arguments) {
        const std::string name(program_.Text(range));
        const bool enumerator = EnumeratorOf(program_, name) && program_.FindVariable(name, launch->function) == nullptr;
        one.template_values.push_back(enumerator ? HostExpression::Name(name) : host_.Resolve(range, launch->function));
      }
      const auto& configuration = launch->configuration;
      if (!configuration.empty()) one.grid = host_.Dimensions(configuration[0], launch->function);
      if (configuration.size() > 1) one.block = host_.Dimensions(configuration[1], launch->function);
      if (configuration.size() > 2) one.shared = host_.Resolve(configuration[2], launch->function);
    }
    for (std::size_t t = 0; t < one.kernel->template_parameters.size(); ++t)
      one.type_arguments.push_back(one.kernel->template_parameters[t].is_type ? TemplateType(one, t) : "");
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      one.types.push_back(WithTypeArguments(parameters[i].type, one.type_arguments));
      if (launch == nullptr || IsPointerType(one.types.back())) continue;
      if (i >= launch->arguments.size()) {
        if (const auto given = host_.DefaultOf(parameters[i]))
          one.values[parameters[i].name] = host_.Resolve(*given, launch->function);
        continue;
      }
      if (FlatFieldsOf(program_, PointedType(one.types[i])).empty())
        one.values[parameters[i].name] = host_.Resolve(launch->arguments[i], launch->function);
      for (const ProgramParameter& field : FlatFieldsOf(program_, PointedType(one.types[i]))) {
        if (IsPointerType(field.type)) continue;
        const std::string type = PointedType(one.types[i]);
        if (auto value = host_.FieldValue(launch->arguments[i], type, field.name, launch->function))
          one.values[parameters[i].name + "." + field.name] = *std::move(value);
      }
    }
    if (launch != nullptr) PutCases(one);
  }

  // In `case 512:` of `switch (threads)`, threads are 512.
  void PutCases(TakenLaunch& one) {
    for (const LaunchReach::Case& around : reach_.CasesAround(*one.launch)) {
      if (around.chosen.kind != HostExpression::Kind::kName || around.label.kind != HostExpression::Kind::kNumber) continue;
      const auto put = [&](HostExpression& part) {
        part = Simplified(Replaced(part, [&](const HostExpression& name) {
          const bool same = name.kind == HostExpression::Kind::kName && name.text == around.chosen.text;
          return same ? std::optional(around.label) : std::nullopt;
        }));
      };
      for (auto* list : {&one.template_values, &one.grid, &one.block}) std::for_each(list->begin(), list->end(), put);
      if (one.shared) put(*one.shared);
      for (auto& [name, value] : one.values) put(value);
    }
  }

  std::string TemplateType(const TakenLaunch& one, std::size_t t) {
    if (one.launch == nullptr) return "float";
    std::vector<std::string> spelled;
    for (const SourceRange& range : one.launch->template_arguments) spelled.emplace_back(program_.Text(range));
    const std::string type = TypeArgumentOf(program_, host_, *one.launch, spelled, *one.kernel, t);
    if (!type.empty()) return type;
    std::string note = fmt::format("what {} of {} stands for is not known; taken as float",
                                   one.kernel->template_parameters[t].name, one.kernel->name);
    if (std::find(notes_.begin(), notes_.end(), note) == notes_.end()) notes_.push_back(std::move(note));
    return "float";
  }

  const SourceProgram& program_;
  const SyntaxTree& tree_;
  HostCode& host_;
  LaunchReach reach_;
  std::vector<std::string>& notes_;
};

}  // namespace

std::vector<TakenLaunch> TakeLaunches(const SourceProgram& program, HostCode& host, const std::vector<std::string>& kernels,
                                      std::vector<std::string>& notes) {
  return LaunchTaker(program, host, notes).Run(kernels);
}

}  // namespace evo
