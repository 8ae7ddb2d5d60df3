#include "mutators/analysis/block_runs/thread_roles.h"

#include <algorithm>
#include <cctype>
#include <exception>

#include "kernel_templates/brought_parameters.h"
#include "mutators/analysis/source/atomic_combination.h"
#include "mutators/analysis/source/constant_value.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/memory_traffic.h"
#include "mutators/analysis/source/shared_array.h"
#include "mutators/analysis/source/source_query.h"

namespace evo {
namespace {

// Settings of parameters for which a kernel is looked at.
constexpr std::size_t kMostBlockSettings = 12;
// Runs on numbers, at least, each with other ones.
constexpr std::size_t kFewestGroups = 6;

}  // namespace

// The present values of the parameters that the kernel names, and all others that they may have.
std::vector<RowGroup> ThreadRoles::Groups(bool of_warps) const {
  std::vector<Parameters> all{context_.genome.parameters};
  const auto tokens = tree_.Tokens(tree_.node(kernel_).range);
  std::set<std::string> named;
  for (const Parameter& parameter : context_.rendered.space.parameters) {
    bool names = std::find(tokens.begin(), tokens.end(), parameter.name) != tokens.end();
    for (const Expression& extent : launch_.block) {
      const auto of_block = extent.Names();
      names = names || std::find(of_block.begin(), of_block.end(), parameter.name) != of_block.end();
    }
    if (!names || !context_.genome.parameters.contains(parameter.name)) continue;
    named.insert(parameter.name);
    std::vector<Parameters> more;
    for (const Parameters& setting : all) {
      for (const std::int64_t value : parameter.values) {
        more.push_back(setting);
        more.back()[parameter.name] = value;
      }
    }
    all = std::move(more);
    if (all.size() > kMostBlockSettings * 8) return {};
  }
  std::erase_if(all, [&](const Parameters& setting) { return context_.rendered.space.Violated(setting).has_value(); });
  if (all.size() > kMostBlockSettings) return {};
  for (const std::string_view token : tokens) {
    const bool word = std::isalpha(static_cast<unsigned char>(token.front())) != 0 && !named.contains(std::string(token));
    if (word && ConstantValue(tree_, token) && !ParametersBehind(context_, token).empty()) return {};
  }
  std::vector<RowGroup> groups;
  for (const Parameters& setting : all) {
    std::vector<std::int64_t> extents;
    try {
      for (const Expression& extent : launch_.block) extents.push_back(extent.EvaluateInteger(ToVariables(setting)));
    } catch (const std::exception&) {
      return {};
    }
    extents.resize(3, 1);
    const bool along_y = of_warps && extents[0] == 32 && extents[1] > 1;
    const std::int64_t threads = extents[0] * (along_y ? extents[1] : 1);
    if (threads < 1 || threads > 1024 || extents[2] != 1 || (extents[1] != 1 && !along_y)) return {};
    if (of_warps && threads % 32 != 0) return {};
    const std::int64_t rows = of_warps ? threads / 32 : 1;
    groups.push_back({setting, threads, rows, along_y, 0, 0});
    groups.push_back({setting, threads, rows, along_y, 5, rows - 1});
    if (of_warps) groups.push_back({setting, threads, rows, along_y, 3, rows / 2});
  }
  for (std::size_t i = 0; !groups.empty() && groups.size() < kFewestGroups; ++i) groups.push_back(groups[i]);
  return groups;
}

bool ThreadRoles::NamesAny(std::string_view text, const std::set<std::string>& names) const {
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) { return ContainsName(text, name); });
}

bool ThreadRoles::IsOfThread(int node) const {
  return node >= 0 &&
         (NamesAny(tree_.Text(node), {"threadIdx", "blockDim", "gridDim", "warpSize"}) || NamesAny(tree_.Text(node), indices_));
}

// Whether it names a variable that is declared with the thread's number, which may come later.
bool ThreadRoles::NamesThread(int node) const {
  const auto named = NamedIn(tree_, node);
  return std::any_of(named.begin(), named.end(), [&](int declaration) {
    return tree_.node(declaration).kind_name == "VarDecl" && ContainsName(tree_.Text(declaration), "threadIdx");
  });
}

bool ThreadRoles::IsSharedLoop(int node) const {
  const auto loop = AsForLoop(tree_, node);
  if (!loop || ContainsName(tree_.Text(loop->increment), "gridDim")) return false;
  const bool shares = ContainsName(tree_.Text(loop->increment), "blockDim") || NamesAny(tree_.Text(loop->increment), indices_) ||
                      ContainsName(tree_.Text(loop->init), "threadIdx") || NamesAny(tree_.Text(loop->init), indices_) ||
                      NamesThread(loop->init);
  return shares && !WorkTogether(loop->body);
}

bool ThreadRoles::HasSharedLoop(int node) const {
  const auto inner = Subtree(tree_, node);
  return std::any_of(inner.begin(), inner.end(), [&](int at) { return IsSharedLoop(at); });
}

// A variable in shared memory, or an element with a number as its index.
bool ThreadRoles::IsCell(int use) const {
  const SyntaxNode& named = tree_.node(tree_.node(use).refers_to);
  if (named.type.find_first_of("[*") == std::string::npos) return true;
  const int element = tree_.node(use).parent;
  return tree_.node(element).kind_name == "ArraySubscriptExpr" && tree_.node(element).children.front() == use &&
         tree_.node(element).type.find('[') == std::string::npos &&
         ConstantValue(tree_, tree_.Text(tree_.node(element).children[1])).has_value();
}

int ThreadRoles::CellNode(int use) const {
  const SyntaxNode& named = tree_.node(tree_.node(use).refers_to);
  return named.type.find_first_of("[*") == std::string::npos ? use : tree_.node(use).parent;
}

bool ThreadRoles::IsSharedUse(int node) const {
  const SyntaxNode& one = tree_.node(node);
  return one.kind_name == "DeclRefExpr" && one.refers_to >= 0 && tree_.node(one.refers_to).kind_name == "VarDecl" &&
         (IsShared(tree_, one.refers_to) || pointers_.contains(one.refers_to));
}

bool ThreadRoles::WorkTogether(int statement) const {
  for (const int node : Subtree(tree_, statement)) {
    const auto callee = LibraryCallee(tree_, node);
    if (IsBlockBarrier(tree_, node) && WithoutParentheses(tree_, statement) != node) return true;
    if (callee.starts_with("__shfl") || callee.starts_with("__reduce_") || callee == "__ballot_sync") return true;
    if (IsSharedUse(node) && (!IsCell(node) || IsAtomicCall(tree_, tree_.node(tree_.node(CellNode(node)).parent).parent)))
      return true;
  }
  return false;
}

bool ThreadRoles::IsBarrier(int statement) const {
  return IsBlockBarrier(tree_, statement) || LibraryCallee(tree_, statement) == "__syncwarp";
}

bool ThreadRoles::IsLocalTarget(int target) const {
  int node = WithoutParentheses(tree_, target);
  const bool element = tree_.node(node).kind_name == "ArraySubscriptExpr";
  while (tree_.node(node).kind_name == "ArraySubscriptExpr") node = WithoutParentheses(tree_, tree_.node(node).children.front());
  const int named = NamedDeclaration(tree_, node);
  if (named < 0 || tree_.node(named).kind_name != "VarDecl" || tree_.node(named).function < 0) return false;
  return IsShared(tree_, named) || pointers_.contains(named) ||
         (!element && tree_.node(named).type.find('*') == std::string::npos);
}

bool ThreadRoles::HasEffects(int statement) const {
  for (const int node : Subtree(tree_, statement)) {
    const SyntaxNode& one = tree_.node(node);
    if (one.kind_name == "ReturnStmt" || one.kind_name == "GotoStmt" || one.kind_name.find("Asm") != std::string::npos)
      return true;
    if (one.opaque) return true;
    if (const int target = Assigned(tree_, node); target >= 0 && !IsLocalTarget(target)) return true;
    if (one.kind_name != "CallExpr" || CallsPure(tree_, node)) continue;
    const auto callee = LibraryCallee(tree_, node);
    if (IsAtomicCall(tree_, node) && one.children.size() > 1) {
      const int address = WithoutParentheses(tree_, one.children[1]);
      if (tree_.Operator(address) != "&" || !IsLocalTarget(tree_.node(address).children.front())) return true;
    } else if (!callee.starts_with("__shfl") && callee != "__syncthreads" && callee != "__syncwarp") {
      return true;
    }
  }
  return false;
}

}  // namespace evo
