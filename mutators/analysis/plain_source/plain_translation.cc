#include "mutators/analysis/plain_source/plain_translation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

#include "kernel_templates/brought_parameters.h"
#include "mutators/analysis/plain_source/lost_arguments.h"
#include "mutators/analysis/plain_source/tree_counterparts.h"
#include "mutators/analysis/source/indentation.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/analysis/source/work_sharing.h"
#include "mutators/breeding/edit_application.h"

namespace evo {
namespace {

// The body of a function; -1 for a declaration.
int BodyOf(const SyntaxTree& tree, int function) {
  const auto& children = tree.node(function).children;
  return !children.empty() && tree.node(children.back()).kind_name == "CompoundStmt" ? children.back() : -1;
}

// Whether a parameter is declared anew that the source's body has as a variable of its own.
bool IsOfField(const SyntaxTree& plain, const FieldDeclarations& fields, const Proposal::Change& change) {
  const SyntaxNode& parameter = plain.node(change.node);
  if (parameter.kind_name != "ParmDecl" || change.placement != Placement::kReplace) return false;
  const auto declared = fields.find(plain.node(parameter.parent).name);
  return declared != fields.end() && std::any_of(declared->second.begin(), declared->second.end(),
                                                 [&](const auto& field) { return field.first == parameter.name; });
}

// Whether another kernel takes the place of one as a whole, with arguments of its own.
bool IsReplaced(const SyntaxTree& plain, const Proposal& proposal, const std::string& kernel) {
  return std::any_of(proposal.changes.begin(), proposal.changes.end(), [&](const Proposal::Change& change) {
    return change.placement == Placement::kReplace && plain.node(change.node).name == kernel && IsKernel(plain, change.node);
  });
}

// Translates proposals between the trees of a source.
class Translator {
 public:
  Translator(const MutationContext& context, const MutationContext& plain, const ParameterDifferences& differences)
      : context_(context),
        source_(context.tree),
        plain_context_(plain),
        plain_(plain.tree),
        differences_(differences),
        lost_(context.tree, plain.tree) {
    for (const int child : source_.node(0).children) names_.insert(source_.node(child).name);
  }

  // nullopt for a change in what stands in front of a body, which may be spelled by macros.
  std::optional<Proposal> Translate(const Proposal& proposal) {
    Proposal result = proposal;
    for (LaunchChange& change : result.launch) {
      if (change.field == "arguments" && !IsReplaced(plain_, proposal, change.kernel) && !PassArgumentsOfSource(change))
        return std::nullopt;
    }
    result.changes.clear();
    result.also_anchored.clear();
    result.indented = true;
    std::map<int, Proposal> of_bodies;  // by the function
    divided_.clear();
    more_parameters_.clear();
    heads_.clear();
    of_fields_.clear();
    for (const Proposal::Change& change : proposal.changes) {
      const int function = FunctionAround(change.node);
      if (IsBehindOtherParameters(change)) {
        more_parameters_[plain_.node(change.node).parent] += change.text;
        continue;
      }
      const bool include = change.text.starts_with("#include ");
      if (function >= 0 && !include) {
        of_bodies[function].changes.push_back(change);
        continue;
      }
      if (IsOfTemplate(change.node) && !include) {
        if (change.placement != Placement::kReplace) return std::nullopt;
        divided_[change.node] = Indented(change);
        continue;
      }
      // What stands in front of the body of a function of a template.
      const int head = plain_.node(change.node).parent;
      if (function < 0 && !include && head > 0 && IsOfTemplate(head) && change.placement == Placement::kAfter) {
        heads_[head].emplace_back(plain_.node(change.node).range.end, change.text);
        continue;
      }
      if (IsOfField(plain_, differences_.fields, change)) {
        of_fields_[plain_.node(change.node).name] = change.text;
        continue;
      }
      // An include goes to its place, whatever it is anchored to.
      const int node = Counterpart(include && function >= 0 ? function : change.node);
      if (node < 0) return std::nullopt;
      result.changes.push_back({node, change.placement, Indented(change)});
    }
    for (const auto& [function, changes] : of_bodies) {
      if (!IsOfTemplate(function) && Counterpart(function) < 0) return std::nullopt;
      const auto text = BodyWith(function, changes);
      if (!text) return std::nullopt;
      if (IsOfTemplate(function))
        divided_[function] = HeadOf(function) + WithFields(function, *text);
      else
        result.changes.push_back({BodyOf(source_, Counterpart(function)), Placement::kReplace, WithFields(function, *text)});
      if (!FreeBlocks(function, result)) return std::nullopt;
      if (!AddParameters(function, result)) return std::nullopt;
    }
    const auto has_body = [&](const auto& more) { return of_bodies.contains(more.first); };
    if (!std::all_of(more_parameters_.begin(), more_parameters_.end(), has_body) ||
        !std::all_of(heads_.begin(), heads_.end(), has_body))
      return std::nullopt;
    for (const int node : proposal.also_anchored) {
      const int function = FunctionAround(node);
      if (IsOfTemplate(function)) continue;
      const int counterpart = Counterpart(function < 0 ? node : function);
      const int body = function < 0 || counterpart < 0 ? counterpart : BodyOf(source_, counterpart);
      if (body >= 0) result.also_anchored.push_back(body);
    }
    // A function that a template has become is launched without arguments.
    for (const Proposal::Change& change : result.changes) {
      const SyntaxNode& node = source_.node(change.node);
      if (node.kind_name == "FunctionTemplate" && change.placement == Placement::kReplace && !change.text.empty())
        result.launch.insert(result.launch.begin(), {node.name, "template", ""});
    }
    return AddDivided(result) ? std::optional(result) : std::nullopt;
  }

 private:
  // Whether it is a function for one of a template's lists of arguments, which the source does not have.
  bool IsOfTemplate(int function) const {
    return function >= 0 && plain_.node(function).parent == 0 && plain_.node(function).kind_name == "FunctionDecl" &&
           !names_.contains(plain_.node(function).name);
  }

  // The template of the source; -1 if it is none.
  int TemplateOf(int function) const {
    const auto& declared = plain_.node(0).children;
    auto at = std::find(declared.begin(), declared.end(), function);
    while (at != declared.begin() && IsOfTemplate(*at)) --at;
    const int found = Counterpart(*at);
    return found >= 0 && source_.node(found).kind_name == "FunctionTemplate" ? found : -1;
  }

  std::string HeadOf(int function) const {
    const std::uint32_t begin = plain_.node(function).range.begin;
    std::string head(plain_.Text({begin, plain_.node(BodyOf(plain_, function)).range.begin}));
    if (const auto more = heads_.find(function); more != heads_.end()) {
      auto added = more->second;
      std::sort(added.rbegin(), added.rend());
      for (const auto& [at, text] : added) head.insert(at - begin, text);
    }
    return head;
  }

  // Takes a kernel's `__launch_bounds__` away, or puts those of the proposal in their place. False if the source spells them by a
  // macro.
  bool FreeBlocks(int function, Proposal& result) const {
    if (IsOfTemplate(function) || !differences_.free_blocks.contains(plain_.node(function).name)) return true;
    const int to = Counterpart(function), bounds = LaunchBoundsOf(source_, to);
    if (bounds < 0) return false;
    const auto replaces = [&](const Proposal::Change& change) {
      return source_.node(change.node).parent == to && change.text.starts_with(" __launch_bounds__(");
    };
    const auto other = std::find_if(result.changes.begin(), result.changes.end(), replaces);
    if (other == result.changes.end())
      result.changes.push_back({bounds, Placement::kReplace, ""});
    else
      *other = {bounds, Placement::kReplace, other->text.substr(1)};
    return true;
  }

  // Functions of templates that the changed ones name come along as they are.
  void AddNamed(const Proposal& result) {
    std::map<std::string_view, int> others;
    for (const int child : plain_.node(0).children) {
      if (divided_.contains(child)) continue;
      if (IsOfTemplate(child) || lost_.LosesArguments(child, Counterpart(child))) others[plain_.node(child).name] = child;
    }
    std::vector<std::string> texts;
    for (const Proposal::Change& change : result.changes) texts.push_back(change.text);
    for (const auto& [function, text] : divided_) texts.push_back(text);
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const std::string text = texts[i];
      for (const SourceRange& range : Tokenize(text)) {
        const auto named = others.find(std::string_view(text).substr(range.begin, range.size()));
        if (named == others.end()) continue;
        texts.push_back(divided_[named->second] = std::string(plain_.Text(named->second)));
        others.erase(named);
      }
    }
  }

  // Puts functions of templates behind those, or in their place if no other is left, and lets them be launched.
  bool AddDivided(Proposal& result) {
    AddNamed(result);
    std::map<int, std::vector<int>> of_templates;
    for (const auto& [function, text] : divided_) {
      const int from = TemplateOf(function);
      if (from < 0) return false;
      of_templates[from].push_back(function);
    }
    for (const auto& [from, functions] : of_templates) {
      std::string text;
      for (const int function : functions) {
        if (!divided_[function].empty()) text += (text.empty() ? "" : "\n\n") + divided_[function];
      }
      const auto others = [&](int child) {
        return IsOfTemplate(child) && TemplateOf(child) == from && !divided_.contains(child);
      };
      const auto& declared = plain_.node(0).children;
      const auto stays = [&](int function) { return !IsOfTemplate(function); };
      if (std::none_of(functions.begin(), functions.end(), stays) && std::none_of(declared.begin(), declared.end(), others))
        result.changes.push_back({from, Placement::kReplace, text});
      else if (!text.empty())
        result.changes.push_back({from, Placement::kAfter, "\n\n" + text});
      if (const int body = BodyOf(source_, from); body >= 0) result.also_anchored.push_back(body);
    }
    std::vector<LaunchChange> renamed;
    const auto& steps = plain_context_.rendered.steps;
    for (std::size_t i = 0; i < steps.size() && i < context_.rendered.steps.size(); ++i) {
      const auto& launch = context_.rendered.steps[i].launch;
      const auto is_it = [&](const auto& one) { return plain_.node(one.first).name == steps[i].launch->kernel; };
      if (!launch || !steps[i].launch || std::none_of(divided_.begin(), divided_.end(), is_it)) continue;
      const LaunchChange change{launch->kernel_expression, "kernel", steps[i].launch->kernel};
      if (std::find(renamed.begin(), renamed.end(), change) == renamed.end()) renamed.push_back(change);
    }
    result.launch.insert(result.launch.begin(), renamed.begin(), renamed.end());
    return true;
  }

  // The function in whose body a node is; -1 if it is in none.
  int FunctionAround(int node) const {
    const int function = plain_.node(node).function;
    if (function < 0) return -1;
    const int body = BodyOf(plain_, function);
    return body >= 0 && IsWithin(plain_, node, body) ? function : -1;
  }

  int Counterpart(int node) const { return Counterparts(source_, plain_, names_).Of(node); }

  // Whether a function's parameters are not those of the source.
  bool HasOtherParameters(const std::string& function) const {
    return differences_.fields.contains(function) || differences_.added.contains(function);
  }

  bool IsBehindOtherParameters(const Proposal::Change& change) const {
    const int function = plain_.node(change.node).parent;
    return function > 0 && HasOtherParameters(plain_.node(function).name) && change.placement == Placement::kAfter &&
           change.node == LastParameter(plain_, function);
  }

  // Lets arguments that follow those of the written out source follow those of the source. False if others change.
  bool PassArgumentsOfSource(LaunchChange& change) const {
    if (!HasOtherParameters(change.kernel)) return true;
    const LaunchDirective* const launch = OnlyLaunch(context_.rendered, change.kernel);
    const LaunchDirective* const present = OnlyLaunch(plain_context_.rendered, change.kernel);
    if (launch == nullptr || present == nullptr) return false;
    const std::string before = fmt::format("{}, ", fmt::join(present->arguments, ", "));
    std::string now = fmt::format("{}, ", fmt::join(launch->arguments, ", "));
    if (const auto added = differences_.added.find(change.kernel); added != differences_.added.end())
      now += added->second.second + ", ";
    if (!change.text.starts_with(before)) return false;
    change.text.replace(0, before.size(), now);
    return true;
  }

  // Gives a kernel of the source the parameters that its body needs.
  bool AddParameters(int function, Proposal& result) const {
    const std::string& name = plain_.node(function).name;
    std::string parameters;
    if (const auto added = differences_.added.find(name); added != differences_.added.end()) {
      const LaunchDirective* const launch = OnlyLaunch(context_.rendered, name);
      const LaunchDirective* const present = OnlyLaunch(plain_context_.rendered, name);
      if (launch == nullptr || present == nullptr) return false;
      parameters = ", " + added->second.first;
      const auto passes = [&](const LaunchChange& change) {
        return change.kernel == present->kernel && change.field == "arguments";
      };
      if (std::none_of(result.launch.begin(), result.launch.end(), passes))
        result.launch.push_back(
            {present->kernel, "arguments", fmt::format("{}, {}", fmt::join(launch->arguments, ", "), added->second.second)});
    }
    if (const auto more = more_parameters_.find(function); more != more_parameters_.end()) parameters += more->second;
    // What stands in front of the body of a template's function comes along.
    if (parameters.empty() || (IsOfTemplate(function) && !more_parameters_.contains(function))) return true;
    const int to = Counterpart(function), last = to < 0 ? -1 : LastParameter(source_, to);
    if (last >= 0) result.changes.push_back({last, Placement::kAfter, parameters});
    return last >= 0;
  }

  // A body with declarations of the fields that it names.
  std::string WithFields(int function, std::string body) const {
    const auto declared = differences_.fields.find(plain_.node(function).name);
    if (declared == differences_.fields.end()) return body;
    std::string lines;
    for (const auto& [name, declaration] : declared->second) {
      if (!ContainsName(body, name)) continue;
      const auto anew = of_fields_.find(name);
      const std::string spelled =
          anew == of_fields_.end() ? declaration : anew->second + declaration.substr(declaration.find(" = "));
      lines += fmt::format("\n{}{}", IndentUnit(source_), spelled);
    }
    return body.insert(1, lines);
  }

  std::string Indented(const Proposal::Change& change) const {
    const std::string unit = IndentUnit(plain_);
    return unit == "  " ? change.text : Reindented(change.text, IndentOf(plain_, change.node), unit);
  }

  std::optional<std::string> BodyWith(int function, Proposal changes) const {
    for (Proposal::Change& change : changes.changes) change.text = Indented(change);
    const AppliedEdit applied = ApplyEdit(plain_, {}, MakeEdit(plain_, "plain", changes));
    if (!applied.dropped.empty()) return std::nullopt;
    const SourceRange& body = plain_.node(BodyOf(plain_, function)).range;
    const std::size_t behind = plain_.text().size() - body.end;
    return applied.text.substr(body.begin, applied.text.size() - behind - body.begin);
  }

  const MutationContext& context_;
  const SyntaxTree& source_;
  const MutationContext& plain_context_;
  const SyntaxTree& plain_;
  const ParameterDifferences& differences_;
  LostArguments lost_;
  std::set<std::string> names_;                                              // of the source's declarations
  std::map<int, std::string> divided_;                                       // functions of templates: what becomes of them
  std::map<int, std::vector<std::pair<std::uint32_t, std::string>>> heads_;  // what goes into heads of theirs, and where
  std::map<int, std::string> more_parameters_;    // what a proposal adds behind a function's parameters
  std::map<std::string, std::string> of_fields_;  // declarations of parameters that are fields, as a proposal wants them
};

}  // namespace

std::optional<Proposal> InSource(const Proposal& proposal, const MutationContext& source, const MutationContext& plain,
                                 const ParameterDifferences& differences) {
  return Translator(source, plain, differences).Translate(proposal);
}

}  // namespace evo
