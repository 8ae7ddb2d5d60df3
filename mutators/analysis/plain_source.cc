#include "mutators/analysis/plain_source.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "kernel_templates/brought_parameters.h"
#include "mutators/analysis/indentation.h"
#include "mutators/analysis/source_query.h"
#include "mutators/analysis/struct_parameters.h"
#include "mutators/analysis/thread_loops.h"
#include "mutators/analysis/work_sharing.h"
#include "mutators/breeding/edit_application.h"

namespace evo {
namespace {

// The body of a function; -1 for a declaration.
int BodyOf(const SyntaxTree& tree, int function) {
  const auto& children = tree.node(function).children;
  return !children.empty() && tree.node(children.back()).kind_name == "CompoundStmt" ? children.back() : -1;
}

// How the parameters of kernels differ from those of the source, by the kernel's name.
struct ParameterDifferences {
  FieldDeclarations fields;  // of structs, which are parameters of their own
  // A parameter more, as it follows the others, and what the launch line passes for it.
  std::map<std::string, std::pair<std::string, std::string>> added;
};

// Translates proposals between the trees of a source.
class Translator {
 public:
  Translator(const MutationContext& context, const MutationContext& plain, const ParameterDifferences& differences)
      : context_(context), source_(context.tree), plain_(plain), differences_(differences) {}

  // nullopt for a change in what stands in front of a body, which may be spelled by macros.
  std::optional<Proposal> Translate(const Proposal& proposal) {
    Proposal result = proposal;
    for (const LaunchChange& change : proposal.launch) {
      // Of other parameters.
      if (change.field == "arguments" && (!differences_.fields.empty() || !differences_.added.empty())) return std::nullopt;
    }
    result.changes.clear();
    result.also_anchored.clear();
    result.indented = true;
    std::map<int, Proposal> of_bodies;  // by the function
    for (const Proposal::Change& change : proposal.changes) {
      const int function = FunctionAround(change.node);
      const bool include = change.text.starts_with("#include ");
      if (function >= 0 && !include) {
        of_bodies[function].changes.push_back(change);
        continue;
      }
      // An include goes to its place, whatever it is anchored to.
      const int node = Counterpart(include && function >= 0 ? function : change.node);
      if (node < 0) return std::nullopt;
      result.changes.push_back({node, change.placement, Indented(change)});
    }
    for (const auto& [function, changes] : of_bodies) {
      const auto text = BodyWith(function, changes);
      if (!text) return std::nullopt;
      result.changes.push_back({BodyOf(source_, Counterpart(function)), Placement::kReplace, WithFields(function, *text)});
      if (!AddParameter(function, result)) return std::nullopt;
    }
    for (const int node : proposal.also_anchored) {
      const int function = FunctionAround(node);
      const int body = function < 0 ? Counterpart(node) : BodyOf(source_, Counterpart(function));
      if (body >= 0) result.also_anchored.push_back(body);
    }
    // A function that a template has become is launched without arguments.
    for (const Proposal::Change& change : result.changes) {
      const SyntaxNode& node = source_.node(change.node);
      if (node.kind_name == "FunctionTemplate" && change.placement == Placement::kReplace && !change.text.empty())
        result.launch.insert(result.launch.begin(), {node.name, "template", ""});
    }
    return result;
  }

 private:
  // The function in whose body a node is; -1 if it is in none.
  int FunctionAround(int node) const {
    const int function = plain_.tree.node(node).function;
    if (function < 0) return -1;
    const int body = BodyOf(plain_.tree, function);
    return body >= 0 && IsWithin(plain_.tree, node, body) ? function : -1;
  }

  // The same declaration of the file, the same parameter of a function, or its `__global__`; -1 for other nodes.
  int Counterpart(int node) const {
    const int parent = plain_.tree.node(node).parent;
    if (parent < 0) return 0;
    if (plain_.tree.node(node).kind_name == "attribute(global)") {
      const int function = Counterpart(parent);
      if (function < 0) return -1;
      for (const int child : source_.node(function).children) {
        if (source_.node(child).kind_name == "attribute(global)") return child;
      }
      return -1;
    }
    const bool parameter = plain_.tree.node(node).kind_name == "ParmDecl";
    if (parent != 0 && !parameter) return -1;
    const int to = parent == 0 ? 0 : Counterpart(parent);
    if (to < 0) return -1;
    const auto listed = [&](const SyntaxTree& tree, int of) {
      std::vector<int> nodes;
      for (const int child : tree.node(of).children) {
        if (!parameter || tree.node(child).kind_name == "ParmDecl") nodes.push_back(child);
      }
      return nodes;
    };
    const std::vector<int> from = listed(plain_.tree, parent), in = listed(source_, to);
    const auto at = static_cast<std::size_t>(std::find(from.begin(), from.end(), node) - from.begin());
    if (from.size() != in.size() || source_.node(in[at]).name != plain_.tree.node(node).name) return -1;
    return in[at];
  }

  // Gives a kernel of the source the parameter that its body needs.
  bool AddParameter(int function, Proposal& result) const {
    const std::string& name = plain_.tree.node(function).name;
    const auto added = differences_.added.find(name);
    if (added == differences_.added.end()) return true;
    const LaunchDirective* const launch = OnlyLaunch(context_.rendered, name);
    const LaunchDirective* const present = OnlyLaunch(plain_.rendered, name);
    const int last = LastParameter(source_, Counterpart(function));
    if (launch == nullptr || present == nullptr || last < 0) return false;
    result.changes.push_back({last, Placement::kAfter, ", " + added->second.first});
    result.launch.push_back(
        {present->kernel, "arguments", fmt::format("{}, {}", fmt::join(launch->arguments, ", "), added->second.second)});
    return true;
  }

  // A body with declarations of the fields that it names.
  std::string WithFields(int function, std::string body) const {
    const auto declared = differences_.fields.find(plain_.tree.node(function).name);
    if (declared == differences_.fields.end()) return body;
    std::string lines;
    for (const auto& [name, declaration] : declared->second) {
      if (ContainsName(body, name)) lines += fmt::format("\n{}{}", IndentUnit(source_), declaration);
    }
    return body.insert(1, lines);
  }

  std::string Indented(const Proposal::Change& change) const {
    const std::string unit = IndentUnit(plain_.tree);
    return unit == "  " ? change.text : Reindented(change.text, IndentOf(plain_.tree, change.node), unit);
  }

  std::optional<std::string> BodyWith(int function, Proposal changes) const {
    for (Proposal::Change& change : changes.changes) change.text = Indented(change);
    const AppliedEdit applied = ApplyEdit(plain_.tree, {}, MakeEdit(plain_.tree, "plain", changes));
    if (!applied.dropped.empty()) return std::nullopt;
    const SourceRange& body = plain_.tree.node(BodyOf(plain_.tree, function)).range;
    const std::size_t behind = plain_.tree.text().size() - body.end;
    return applied.text.substr(body.begin, applied.text.size() - behind - body.begin);
  }

  const MutationContext& context_;
  const SyntaxTree& source_;
  const MutationContext& plain_;
  const ParameterDifferences& differences_;
};

// The parameters that kernels have in one source and not in an earlier one.
std::map<std::string, std::pair<std::string, std::string>> AddedParameters(const SyntaxTree& earlier,
                                                                           const MutationContext& later) {
  std::map<std::string, std::pair<std::string, std::string>> added;
  const auto count = [](const SyntaxTree& tree, int kernel) {
    const auto& children = tree.node(kernel).children;
    return std::count_if(children.begin(), children.end(), [&](int child) { return tree.node(child).kind_name == "ParmDecl"; });
  };
  for (const int before : Functions(earlier)) {
    for (const int after : Functions(later.tree)) {
      const std::string& name = later.tree.node(after).name;
      if (earlier.node(before).name != name || count(later.tree, after) != count(earlier, before) + 1) continue;
      const LaunchDirective* const launch = OnlyLaunch(later.rendered, name);
      if (launch != nullptr && !launch->arguments.empty())
        added[name] = {std::string(later.tree.Text(LastParameter(later.tree, after))), launch->arguments.back()};
    }
  }
  return added;
}

// The contexts of a source written out more and more, until `look` returns true. It also gets the declarations of fields.
template <typename Look>
void WithPlainContexts(const MutationContext& context, ThreadLoops loops, const Restate& restate,
                       std::vector<std::string>& reasons, Look look) {
  ParameterDifferences differences;
  std::shared_ptr<const SyntaxTree> held;
  const SyntaxTree* last = &context.tree;
  const auto with = [&](const auto& use) {
    const KernelTemplate rendered = ParseTemplate(context.rendered.name, last->text());
    return use(MutationContext{context.kernel_template, context.genome, *last, rendered, context.second_parent});
  };
  const auto look_at = [&] { return with([&](const MutationContext& plain) { return look(plain, differences); }); };
  for (const SyntaxTree* tree = context.tree.plain(); tree != nullptr; tree = tree->plain()) {
    last = tree;
    if (look_at()) return;
  }
  const auto go_on_with = [&](const std::optional<std::string>& text) {
    auto other = text ? last->Reparsed(*text) : nullptr;
    if (!other) return false;
    held = std::move(other);
    last = held.get();
    return look_at();
  };
  FieldDeclarations fields;
  auto flat = with([&](const MutationContext& plain) { return WithoutStructs(plain, fields); });
  if (flat) differences.fields = std::move(fields);
  if (go_on_with(flat)) return;
  if (go_on_with(with([&](const MutationContext& plain) { return WithoutThreadLoops(plain, loops); }))) return;
  if (!restate) return;
  // Runs on numbers take time, and several mutators ask for them.
  const auto& restated = context.tree.Remembered("restated", [&] {
    std::vector<std::string> text(1);
    text[0] = with([&](const MutationContext& plain) {
                return restate(plain, [&](const std::string& why) { text.push_back(why); });
              }).value_or("");
    return text;
  });
  reasons.assign(restated.begin() + 1, restated.end());
  const auto other = restated[0].empty() ? nullptr : last->Reparsed(restated[0]);
  if (!other) return;
  const SyntaxTree* const earlier = last;
  last = other.get();
  differences.added = with([&](const MutationContext& plain) { return AddedParameters(*earlier, plain); });
  look_at();
}

std::size_t ChangesOf(const std::vector<Proposal>& proposals) {
  std::size_t most = 0;
  for (const Proposal& proposal : proposals) most = std::max(most, proposal.changes.size());
  return most;
}

}  // namespace

std::vector<Proposal> InPlainSource(const MutationContext& context, const FindProposals& find, ThreadLoops loops,
                                    Preferred preferred, const Restate& restate) {
  std::vector<Proposal> best = find(context);
  const bool first = preferred == Preferred::kLeastWrittenOut;
  if (first && !best.empty()) return best;
  std::size_t changes = ChangesOf(best);
  const auto look = [&](const MutationContext& plain, const ParameterDifferences& differences) {
    Translator translator(context, plain, differences);
    const std::vector<Proposal> found = find(plain);
    if (ChangesOf(found) <= changes) return false;
    std::vector<Proposal> proposals;
    for (const Proposal& proposal : found) {
      if (auto translated = translator.Translate(proposal)) proposals.push_back(std::move(*translated));
    }
    if (proposals.empty()) return false;
    best = std::move(proposals);
    changes = ChangesOf(found);
    return first;
  };
  std::vector<std::string> reasons;
  WithPlainContexts(context, loops, restate, reasons, look);
  return best;
}

std::vector<std::string> RefusalsInPlainSource(const MutationContext& context, const FindProposals& find,
                                               const FindRefusals& refuse, ThreadLoops loops, const Restate& restate) {
  std::vector<std::string> refusals = refuse(context), more;
  if (!find(context).empty()) return refusals;
  const auto look = [&](const MutationContext& plain, const ParameterDifferences&) {
    refusals = refuse(plain);
    return !find(plain).empty();
  };
  WithPlainContexts(context, loops, restate, more, look);
  // The reason goes behind the kernel's own.
  for (const std::string& why : more) {
    const std::size_t colon = why.find(": ");
    for (std::string& refusal : refusals) {
      if (colon != std::string::npos && refusal.starts_with(why.substr(0, colon + 2))) refusal += ";" + why.substr(colon + 1);
    }
  }
  return refusals;
}

}  // namespace evo
