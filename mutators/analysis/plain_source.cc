#include "mutators/analysis/plain_source.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "mutators/analysis/indentation.h"
#include "mutators/analysis/source_query.h"
#include "mutators/analysis/thread_loops.h"
#include "mutators/breeding/edit_application.h"

namespace evo {
namespace {

// The body of a function; -1 for a declaration.
int BodyOf(const SyntaxTree& tree, int function) {
  const auto& children = tree.node(function).children;
  return !children.empty() && tree.node(children.back()).kind_name == "CompoundStmt" ? children.back() : -1;
}

// Translates proposals between the trees of a source.
class Translator {
 public:
  Translator(const MutationContext& context, const MutationContext& plain)
      : context_(context), source_(context.tree), plain_context_(plain), plain_(plain.tree) {
    for (const int child : source_.node(0).children) names_.insert(source_.node(child).name);
  }

  // nullopt for a change in what stands in front of a body, which may be spelled by macros.
  std::optional<Proposal> Translate(const Proposal& proposal) {
    Proposal result = proposal;
    result.changes.clear();
    result.also_anchored.clear();
    result.indented = true;
    std::map<int, Proposal> of_bodies;  // by the function
    divided_.clear();
    for (const Proposal::Change& change : proposal.changes) {
      const int function = FunctionAround(change.node);
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
      // An include goes to its place, whatever it is anchored to.
      const int node = Counterpart(include && function >= 0 ? function : change.node);
      if (node < 0) return std::nullopt;
      result.changes.push_back({node, change.placement, Indented(change)});
    }
    for (const auto& [function, changes] : of_bodies) {
      const auto text = BodyWith(function, changes);
      if (!text) return std::nullopt;
      if (IsOfTemplate(function))
        divided_[function] = HeadOf(function) + *text;
      else
        result.changes.push_back({BodyOf(source_, Counterpart(function)), Placement::kReplace, *text});
    }
    for (const int node : proposal.also_anchored) {
      const int function = FunctionAround(node);
      if (IsOfTemplate(function)) continue;
      const int body = function < 0 ? Counterpart(node) : BodyOf(source_, Counterpart(function));
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
    return std::string(plain_.Text({plain_.node(function).range.begin, plain_.node(BodyOf(plain_, function)).range.begin}));
  }

  // Functions of templates that the changed ones name come along as they are.
  void AddNamed() {
    std::map<std::string_view, int> others;
    for (const int child : plain_.node(0).children) {
      if (IsOfTemplate(child) && !divided_.contains(child)) others[plain_.node(child).name] = child;
    }
    for (bool more = true; more;) {
      more = false;
      for (const auto& [function, text] : divided_) {
        for (const SourceRange& range : Tokenize(text)) {
          const auto named = others.find(std::string_view(text).substr(range.begin, range.size()));
          if (named == others.end()) continue;
          divided_[named->second] = std::string(plain_.Text(named->second));
          others.erase(named);
          more = true;
          break;
        }
        if (more) break;
      }
    }
  }

  // Puts functions of templates behind those, or in their place if no other is left, and lets them be launched.
  bool AddDivided(Proposal& result) {
    AddNamed();
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
      if (std::none_of(declared.begin(), declared.end(), others))
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

  // The same declaration of the file, or the same parameter of a function; -1 for other nodes.
  int Counterpart(int node) const {
    const int parent = plain_.node(node).parent;
    if (parent < 0) return 0;
    const bool parameter = plain_.node(node).kind_name == "ParmDecl";
    if (parent != 0 && !parameter) return -1;
    const int to = parent == 0 ? 0 : Counterpart(parent);
    if (to < 0) return -1;
    const auto listed = [&](const SyntaxTree& tree, int of) {
      std::vector<int> nodes;
      for (const int child : tree.node(of).children) {
        if (parameter ? tree.node(child).kind_name == "ParmDecl" : names_.contains(tree.node(child).name)) nodes.push_back(child);
      }
      return nodes;
    };
    const std::vector<int> from = listed(plain_, parent), in = listed(source_, to);
    const auto at = static_cast<std::size_t>(std::find(from.begin(), from.end(), node) - from.begin());
    if (from.size() != in.size() || at >= in.size() || source_.node(in[at]).name != plain_.node(node).name) return -1;
    return in[at];
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
  std::set<std::string> names_;         // of the source's declarations
  std::map<int, std::string> divided_;  // functions of templates: what becomes of them
};

// The launches and so on of a text, read once for all mutators.
const KernelTemplate& TemplateOf(const MutationContext& context, const SyntaxTree& tree) {
  return tree.Kept<KernelTemplate>("template", [&] { return ParseTemplate(context.rendered.name, tree.text()); });
}

// The source without loops of threads, parsed once for all mutators; null if there are none.
using Parsed = std::shared_ptr<const SyntaxTree>;
const Parsed& WithoutLoops(const MutationContext& plain, ThreadLoops loops) {
  const bool planes = loops == ThreadLoops::kOfPlanes;
  return plain.tree.Kept<Parsed>(planes ? "without loops of planes" : "without loops", [&]() -> Parsed {
    const auto text = WithoutThreadLoops(plain, planes);
    return text ? plain.tree.Reparsed(*text) : nullptr;
  });
}

// Whether a source is written for the tensor cores or in assembly: no mutator that rewrites whole kernels would find it plain,
// and it takes long to write out.
bool IsWrittenByHand(const std::string& text) {
  return text.find("asm volatile") != std::string::npos || text.find("asm(") != std::string::npos ||
         text.find("wmma::") != std::string::npos;
}

// The contexts of a source written out more and more, until `look` returns true.
template <typename Look>
void WithPlainContexts(const MutationContext& context, ThreadLoops loops, Look look) {
  if (IsWrittenByHand(context.tree.text())) return;
  const auto context_of = [&](const SyntaxTree& tree) {
    return MutationContext{context.kernel_template, context.genome, tree, TemplateOf(context, tree), context.second_parent};
  };
  const SyntaxTree* last = &context.tree;
  for (const SyntaxTree* tree = context.tree.plain(); tree != nullptr; tree = tree->plain()) {
    if (look(context_of(*tree))) return;
    last = tree;
  }
  if (const Parsed& without = WithoutLoops(context_of(*last), loops)) look(context_of(*without));
}

std::size_t ChangesOf(const std::vector<Proposal>& proposals) {
  std::size_t most = 0;
  for (const Proposal& proposal : proposals) most = std::max(most, proposal.changes.size());
  return most;
}

}  // namespace

std::vector<Proposal> InPlainSource(const MutationContext& context, const FindProposals& find, ThreadLoops loops,
                                    Preferred preferred) {
  std::vector<Proposal> best = find(context);
  const bool first = preferred == Preferred::kLeastWrittenOut;
  if (first && !best.empty()) return best;
  std::size_t changes = ChangesOf(best);
  WithPlainContexts(context, loops, [&](const MutationContext& plain) {
    Translator translator(context, plain);
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
  });
  return best;
}

std::vector<std::string> RefusalsInPlainSource(const MutationContext& context, const FindProposals& find,
                                               const FindRefusals& refuse, ThreadLoops loops) {
  std::vector<std::string> refusals = refuse(context);
  if (!find(context).empty()) return refusals;
  WithPlainContexts(context, loops, [&](const MutationContext& plain) {
    refusals = refuse(plain);
    return !find(plain).empty();
  });
  return refusals;
}

}  // namespace evo
