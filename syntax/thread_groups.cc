#include "syntax/thread_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "syntax/splices.h"

namespace evo {
namespace {

enum class Group { kNoGroup, kBlockGroup, kWarpGroup };

// A group by its type.
Group GroupOf(const std::string& type) {
  if (type.find("cooperative_groups::") == std::string::npos || type.find('*') != std::string::npos) return Group::kNoGroup;
  if (type.find("thread_block_tile<32") != std::string::npos) return Group::kWarpGroup;
  const bool block = type.ends_with("::thread_block") || type.ends_with("::thread_block &");
  return block ? Group::kBlockGroup : Group::kNoGroup;
}

// Whether all launch lines have blocks of one dimension.
bool HasPlainBlocks(std::string_view text) {
  for (std::size_t at = text.find(" block("); at != std::string_view::npos; at = text.find(" block(", at + 1)) {
    int depth = 0;
    for (std::size_t c = at + 6; c < text.size() && text[c] != '\n'; ++c) {
      depth += (text[c] == '(') - (text[c] == ')');
      if (depth == 0) break;
      if (depth == 1 && text[c] == ',') return false;
    }
  }
  return true;
}

class GroupRemover {
 public:
  explicit GroupRemover(const SyntaxTree& tree) : tree_(tree), plain_blocks_(HasPlainBlocks(tree.text())) {}

  std::optional<std::string> Run() {
    for (int node = 1; node < static_cast<int>(tree_.nodes().size()); ++node) {
      const SyntaxNode& call = tree_.node(node);
      if (call.kind_name != "CallExpr" || call.children.empty() || call.function < 0 || IsCovered(call.range)) continue;
      if (tree_.node(call.children.front()).kind_name == "MemberRefExpr")
        Method(node);
      else
        Function(node);
    }
    RemoveVariables();
    return Spliced(tree_, std::move(splices_));
  }

 private:
  bool IsCovered(const SourceRange& range) const {
    return std::any_of(splices_.begin(), splices_.end(), [&](const auto& splice) { return splice.first.Contains(range); });
  }

  // A call without its `;`.
  SourceRange RangeOf(int call) const {
    SourceRange range = tree_.node(call).range;
    if (tree_.Text(call).ends_with(';')) --range.end;
    return range;
  }

  void Replace(int call, std::string by) { splices_.emplace_back(RangeOf(call), std::move(by)); }

  Group GroupAt(int expression) const {
    const SyntaxNode& node = tree_.node(expression);
    const bool made = node.kind_name == "CallExpr" && node.name == "this_thread_block";
    return node.kind_name == "DeclRefExpr" || made ? GroupOf(node.type) : Group::kNoGroup;
  }

  void Barrier(int call, Group group) { Replace(call, group == Group::kBlockGroup ? "__syncthreads()" : "__syncwarp()"); }

  // A thread's number in its block, and how many there are.
  std::string Rank() const {
    return plain_blocks_ ? "threadIdx.x" : "(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z))";
  }
  std::string Threads() const { return plain_blocks_ ? "blockDim.x" : "(blockDim.x * blockDim.y * blockDim.z)"; }

  void Method(int call) {
    const SyntaxNode& method = tree_.node(tree_.node(call).children.front());
    if (method.children.empty()) return;
    const Group group = GroupAt(method.children.front());
    if (group == Group::kNoGroup) return;
    const std::string& name = tree_.node(call).name;
    if (name == "sync") return Barrier(call, group);
    if (group == Group::kBlockGroup && (name == "thread_index" || name == "group_index")) {
      Replace(call, name == "thread_index" ? "threadIdx" : "blockIdx");
    } else if (group == Group::kBlockGroup && (name == "group_dim" || name == "dim_threads")) {
      Replace(call, "blockDim");
    } else if (name.starts_with("shfl") && group == Group::kWarpGroup && tree_.node(call).children.size() == 3) {
      splices_.emplace_back(method.range, fmt::format("__{}_sync", name));
      const std::uint32_t first = tree_.node(tree_.node(call).children[1]).range.begin;
      splices_.emplace_back(SourceRange{first, first}, "0xffffffffu, ");
    } else if (name == "thread_rank") {
      Replace(call, group == Group::kBlockGroup ? Rank() : fmt::format("({} % 32u)", Rank()));
    } else if (name == "size" || name == "num_threads") {
      Replace(call, group == Group::kBlockGroup ? Threads() : "32u");
    } else if (name == "meta_group_rank") {
      Replace(call, fmt::format("({} / 32u)", Rank()));
    } else if (name == "meta_group_size") {
      Replace(call, fmt::format("(({} + 31u) / 32u)", Threads()));
    }
  }

  void Function(int call) {
    const SyntaxNode& node = tree_.node(call);
    const SyntaxNode& callee = tree_.node(node.children.front());
    if (callee.kind_name != "DeclRefExpr" || callee.refers_to >= 0 || node.children.size() < 2) return;
    if (callee.type.find("cooperative_groups::") == std::string::npos) return;
    const Group group = GroupAt(node.children[1]);
    if (group == Group::kNoGroup) return;
    if (callee.name == "sync" && node.children.size() == 2) return Barrier(call, group);
    if (group != Group::kWarpGroup || node.children.size() < 3) return;
    if (callee.name == "reduce" && node.children.size() == 4) return Fold(call, false);
    const bool exclusive = callee.name == "exclusive_scan";
    if ((exclusive || callee.name == "inclusive_scan") && plain_blocks_) return Fold(call, true, exclusive);
  }

  // `+`, `max` or `min` of a function object; empty for others.
  std::string CombineOf(int object) const {
    const std::string& type = tree_.node(object).type;
    if (type.find("::plus<") != std::string::npos) return "+";
    if (type.find("::greater<") != std::string::npos) return "max";
    if (type.find("::less<") != std::string::npos) return "min";
    return "";
  }

  // `x = reduce(tile, value, fold);` or `T x = ..;` as a loop of shuffles.
  void Fold(int call, bool scan, bool exclusive = false) {
    const auto& parts = tree_.node(call).children;
    const std::string combine = parts.size() == 4 ? CombineOf(parts[3]) : "+";
    if (combine.empty() || (scan && combine != "+")) return;
    int at = call;
    while (tree_.node(tree_.node(at).parent).kind_name == "ParenExpr") at = tree_.node(at).parent;
    const int outer = tree_.node(at).parent;
    const SyntaxNode& to = tree_.node(outer);
    std::string name, declared, target;
    int statement = outer;
    if (tree_.Operator(outer) == "=" && to.children.size() == 2 && to.children[1] == at && tree_.Text(outer).ends_with(';')) {
      const bool variable = tree_.node(to.children[0]).kind_name == "DeclRefExpr";
      name = variable ? std::string(tree_.Text(to.children[0])) : "folded";
      if (!variable) target = PlainText(to.children[0]);
    } else if (to.kind_name == "VarDecl" && to.children.back() == at && tree_.node(to.parent).children.size() == 1) {
      name = to.name;
      declared = to.type;
      if (declared.starts_with("const ")) declared.erase(0, 6);
      declared += " ";
      statement = to.parent;
    }
    if (name.empty()) return;
    const std::string& type = tree_.node(call).type;
    const std::string extreme = type == "float" ? "f" + combine + "f" : type == "double" ? "f" + combine : combine;
    const std::string other =
        fmt::format("__shfl_{}_sync(0xffffffffu, {}, {})", scan ? "up" : "xor", name, scan ? "distance" : "offset");
    std::string text = declared.empty() ? "{ " : "";
    text += fmt::format("{}{} = {};\n", target.empty() ? declared : type + " ", name, PlainText(parts[2]));
    if (scan)
      text += fmt::format(
          "for (int distance = 1; distance < 32; distance *= 2) {{\nconst {0} left = {1};\nif (threadIdx.x % 32 >= distance) {2} "
          "+= left;\n}}",
          type, other, name);
    else
      text += fmt::format(
          "for (int offset = 16; offset > 0; offset /= 2) {};",
          combine == "+" ? fmt::format("{} += {}", name, other) : fmt::format("{0} = {1}({0}, {2})", name, extreme, other));
    if (exclusive) text += fmt::format("\n{0} = __shfl_up_sync(0xffffffffu, {0}, 1);\nif (threadIdx.x % 32 == 0) {0} = 0;", name);
    if (!target.empty()) text += fmt::format("\n{} = {};", target, name);
    // Names of the value are not those of the loop.
    for (const std::string_view token : tree_.Tokens(tree_.node(tree_.node(call).function).range)) {
      if (token == "offset" || token == "distance" || token == "left" || token == "folded") return;
    }
    if (declared.empty()) text += " }";
    splices_.emplace_back(tree_.node(statement).range, std::move(text));
  }

  // An expression with numbers in the place of methods of groups.
  std::string PlainText(int expression) {
    Splices outer = std::exchange(splices_, {});
    for (int node = expression; node < tree_.EndOf(expression); ++node) {
      const SyntaxNode& call = tree_.node(node);
      const bool method = call.kind_name == "CallExpr" && !call.children.empty() &&
                          tree_.node(call.children.front()).kind_name == "MemberRefExpr";
      if (method && !IsCovered(call.range)) Method(node);
    }
    std::string text(tree_.Text(expression));
    std::sort(splices_.begin(), splices_.end(), [](const auto& a, const auto& b) { return a.first.begin > b.first.begin; });
    const std::uint32_t begin = tree_.node(expression).range.begin;
    for (const auto& [range, by] : splices_) text.replace(range.begin - begin, range.size(), by);
    splices_ = std::move(outer);
    return text;
  }

  // Variables that only make each other, or what is replaced.
  void RemoveVariables() {
    for (bool more = true; more;) {
      more = false;
      for (int node = 1; node < static_cast<int>(tree_.nodes().size()); ++node) {
        const SyntaxNode& variable = tree_.node(node);
        if (variable.kind_name != "VarDecl" || GroupOf(variable.type) == Group::kNoGroup) continue;
        const SyntaxNode& statement = tree_.node(variable.parent);
        if (statement.kind_name != "DeclStmt" || statement.children.size() != 1 || IsCovered(statement.range)) continue;
        const auto& uses = tree_.UsesOf(node);
        if (!std::all_of(uses.begin(), uses.end(), [&](int use) { return IsCovered(tree_.node(use).range); })) continue;
        splices_.emplace_back(statement.range, "");
        more = true;
      }
    }
  }

  const SyntaxTree& tree_;
  bool plain_blocks_;
  Splices splices_;
};

}  // namespace

std::optional<std::string> WithoutThreadGroups(const SyntaxTree& tree) {
  if (tree.text().find("cooperative_groups") == std::string::npos) return std::nullopt;
  return GroupRemover(tree).Run();
}

}  // namespace evo
