#include "mutators/analysis/source/convolution_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/element_types.h"
#include "mutators/analysis/source/memory_traffic.h"
#include "mutators/analysis/source/product_store.h"
#include "mutators/analysis/source/shared_array.h"
#include "mutators/analysis/source/source_query.h"

namespace evo {
namespace {

using namespace std::string_view_literals;

// Loops of a convolution: over channels, rows and columns.
constexpr int kDeep = 3;

bool IsLoopStatement(const SyntaxTree& tree, int node) {
  const std::string& kind = tree.node(node).kind_name;
  return kind == "ForStmt" || kind == "WhileStmt" || kind == "DoStmt";
}

int DepthOf(const SyntaxTree& tree, int node) {
  int most = 0;
  for (const int child : tree.node(node).children) most = std::max(most, DepthOf(tree, child));
  return most + (IsLoopStatement(tree, node) ? 1 : 0);
}

// The stores to global memory of a kernel.
std::vector<int> StoresOf(const SyntaxTree& tree, int kernel) {
  std::vector<int> stores;
  for (const int node : Subtree(tree, kernel)) {
    if (IsStore(tree, node) && PointerAt(tree, Assigned(tree, node)) >= 0) stores.push_back(node);
  }
  return stores;
}

// The last loop before a store in one of the blocks around it, and what follows the loop there. The block's node; -1 if there is
// none.
int FindLoop(const SyntaxTree& tree, int kernel, int store, ConvolutionParts& parts) {
  for (int at = store; at != kernel && at >= 0; at = tree.node(at).parent) {
    if (IsLoopStatement(tree, at)) return -1;
    const int block = tree.node(at).parent;
    if (tree.node(block).kind_name != "CompoundStmt") continue;
    const auto& statements = tree.node(block).children;
    const auto own = std::find(statements.begin(), statements.end(), at);
    for (auto before = own; before != statements.begin();) {
      if (!IsLoopStatement(tree, *--before)) continue;
      parts.loop = *before;
      for (auto after = before + 1; after != statements.end(); ++after) {
        if (tree.node(*after).kind_name != "NullStmt") parts.epilogue.push_back(*after);
      }
      return block;
    }
  }
  return -1;
}

bool IsZeroLiteral(const SyntaxTree& tree, int variable) {
  const auto& children = tree.node(variable).children;
  if (children.empty()) return false;
  const std::string_view text = tree.Text(children.back());
  return text == "0" || text == "0.0f" || text == "0.f" || text == "0.0" || text == "0.0F";
}

bool IsWithinAny(const SyntaxTree& tree, int node, const std::vector<int>& statements) {
  return std::any_of(statements.begin(), statements.end(), [&](int statement) { return IsWithin(tree, node, statement); });
}

// The variable that is the sum. Words that say why there is none, or nothing.
std::string FindAccumulator(const SyntaxTree& tree, int kernel, ConvolutionParts& parts) {
  const std::set<int> written = WrittenIn(tree, parts.loop);
  std::set<int> named;
  for (const int statement : parts.epilogue) named.merge(NamedIn(tree, statement));
  for (const int variable : named) {
    const SyntaxNode& declared = tree.node(variable);
    if (declared.kind_name != "VarDecl" || !written.contains(variable) || IsWithinAny(tree, variable, parts.epilogue)) continue;
    if (parts.accumulator >= 0)
      return fmt::format("its loop computes both {} and {}", tree.node(parts.accumulator).name, declared.name);
    parts.accumulator = variable;
  }
  if (parts.accumulator < 0) return "what it stores is no variable to which its loop adds";
  // A second real number that the loop carries on may be the rest of a compensated sum.
  for (const int variable : written) {
    const SyntaxNode& declared = tree.node(variable);
    const std::string type = WithoutConst(declared.type);
    if (variable == parts.accumulator || declared.kind_name != "VarDecl" || IsWithin(tree, variable, parts.loop)) continue;
    if (type == "float" || type == "double")
      return fmt::format("its loop computes both {} and {}", tree.node(parts.accumulator).name, declared.name);
  }
  const SyntaxNode& sum = tree.node(parts.accumulator);
  // Outside of the loop and of what follows, only its initialiser may write it.
  bool elsewhere = false;
  for (const int use : tree.UsesOf(parts.accumulator))
    elsewhere |= !IsWithin(tree, use, parts.loop) && !IsWithinAny(tree, use, parts.epilogue);
  parts.starts_at_zero = IsZeroLiteral(tree, parts.accumulator);
  const SyntaxNode& block = tree.node(tree.node(parts.loop).parent);
  if (elsewhere || sum.children.empty() || IsWithin(tree, parts.accumulator, parts.loop) || block.function != kernel)
    return fmt::format("{} is used before its loop", sum.name);
  return "";
}

// Whether code may leave early, or changes what was declared before it: it could not be repeated for each element.
std::string WhyNotRepeatable(const SyntaxTree& tree, const ConvolutionParts& parts) {
  for (const int statement : parts.epilogue) {
    for (const int node : Subtree(tree, statement)) {
      if (tree.node(node).kind_name == "ReturnStmt") return "it returns after its sum";
      if (tree.node(node).kind_name == "LambdaExpr") return "a lambda uses its sum";
    }
    for (const int variable : WrittenIn(tree, statement)) {
      const std::string& kind = tree.node(variable).kind_name;
      if ((kind != "VarDecl" && kind != "ParmDecl") || variable == parts.accumulator) continue;
      if (!IsWithinAny(tree, variable, parts.epilogue))
        return fmt::format("it changes {} after its sum", tree.node(variable).name);
    }
  }
  return "";
}

// The kernel's buffers: its pointers, and arrays in constant memory that it names.
std::vector<int> PointersOf(const SyntaxTree& tree, int kernel) {
  std::vector<int> pointers;
  for (const int child : tree.node(kernel).children) {
    const SyntaxNode& parameter = tree.node(child);
    if (parameter.kind_name == "ParmDecl" && parameter.type.find('*') != std::string::npos) pointers.push_back(child);
  }
  for (const int named : NamedIn(tree, kernel)) {
    if (tree.node(named).type.ends_with("]") && IsConstantMemory(tree, named)) pointers.push_back(named);
  }
  return pointers;
}

// Whether two buffers have elements of which convolutions are computed.
bool HasElements(const SyntaxTree& tree, int kernel, const std::vector<int>& pointers) {
  const auto is_known = [&](int pointer) {
    const std::string type = PointedTo(tree, pointer);
    return type == "__half" || type == "__nv_bfloat16" || type == "float";
  };
  return std::count_if(pointers.begin(), pointers.end(), is_known) >= 2 || ComputesInWords(tree, kernel);
}

// What an element of an array, or what a pointer points to, is.
std::string ElementTypeOf(const SyntaxTree& tree, int buffer) {
  std::string type = PointedTo(tree, buffer);
  type.erase(type.find_last_not_of(" (") + 1);  // of a pointer to arrays
  return type;
}

}  // namespace

bool ComputesInWords(const SyntaxTree& tree, int kernel) {
  const std::vector<int> pointers = PointersOf(tree, kernel);
  const bool all = std::all_of(pointers.begin(), pointers.end(), [&](int one) { return ElementTypeOf(tree, one) == "int"; });
  if (!all || pointers.size() < 2) return false;
  return std::none_of(tree.nodes().begin() + kernel, tree.nodes().begin() + tree.EndOf(kernel), [](const SyntaxNode& node) {
    constexpr std::array kOthers{"float"sv, "double"sv, "half"sv, "bfloat16"sv, "char"sv, "short"sv};
    return std::any_of(kOthers.begin(), kOthers.end(), [&](auto other) { return node.type.find(other) != std::string::npos; });
  });
}

std::optional<ConvolutionParts> PlainPartsOf(const SyntaxTree& tree, int kernel) {
  const std::vector<int> pointers = PointersOf(tree, kernel);
  if (pointers.size() < 3 || !HasElements(tree, kernel, pointers) || DepthOf(tree, tree.node(kernel).children.back()) < kDeep)
    return std::nullopt;
  // Its sums may be in double, which what is written for it has not.
  if (HasDoubles(tree, kernel)) return std::nullopt;
  ConvolutionParts parts;
  parts.deep = true;
  return parts;
}

std::variant<ConvolutionParts, std::string> SumPartsOf(const SyntaxTree& tree, int kernel) {
  const std::vector<int> stores = StoresOf(tree, kernel);
  ConvolutionParts parts;
  if (stores.empty() || FindLoop(tree, kernel, stores.back(), parts) < 0) return "no loop sums up what it stores";
  for (const int store : stores) {
    if (!IsWithinAny(tree, store, parts.epilogue)) return "it stores before its sum is there";
    parts.stored.push_back(Assigned(tree, store));
  }
  const std::string no_sum = FindAccumulator(tree, kernel, parts);
  // Earlier loops may have summed up a part.
  if (parts.accumulator < 0 || (!no_sum.empty() && !no_sum.ends_with("is used before its loop"))) return no_sum;
  for (const int use : tree.UsesOf(parts.accumulator)) {
    int at = use;
    while (tree.node(at).parent != tree.node(parts.loop).parent && tree.node(at).parent >= 0) at = tree.node(at).parent;
    if (!IsLoopStatement(tree, at) && !IsWithinAny(tree, use, parts.epilogue)) return no_sum;
  }
  if (const std::string why = WhyNotRepeatable(tree, parts); !why.empty()) return why;
  return parts;
}

std::variant<ConvolutionParts, std::string> ConvolutionPartsOf(const SyntaxTree& tree, int kernel) {
  const std::vector<int> pointers = PointersOf(tree, kernel);
  const std::vector<int> stores = StoresOf(tree, kernel);
  ConvolutionParts parts;
  if (pointers.size() < 3 || stores.empty() || FindLoop(tree, kernel, stores.front(), parts) < 0) return "";
  parts.deep = DepthOf(tree, parts.loop) >= kDeep;
  const auto refuse = [&](std::string why) { return parts.deep ? std::move(why) : std::string(); };
  if (!HasElements(tree, kernel, pointers))
    return refuse(fmt::format("the elements of {} are {}, and half, bfloat16 and float are known",
                              tree.node(pointers.front()).name, PointedTo(tree, pointers.front())));
  for (const int store : stores) {
    if (!IsWithinAny(tree, store, parts.epilogue)) return refuse("it stores before its sum is there");
    parts.stored.push_back(Assigned(tree, store));
    for (int at = store; at != tree.node(parts.loop).parent; at = tree.node(at).parent) {
      if (IsLoopStatement(tree, at)) return refuse("it stores in a loop");
    }
  }
  const std::string no_sum = FindAccumulator(tree, kernel, parts);
  const std::string summed = parts.accumulator < 0 ? "float" : WithoutConst(tree.node(parts.accumulator).type);
  if (ComputesInWords(tree, kernel) && parts.accumulator >= 0 && summed != "int")
    return refuse(fmt::format("it sums up integers in {}", summed));
  if (summed != "float" && !ComputesInWords(tree, kernel))
    return refuse(fmt::format("it sums up in {}, and tensor cores do in float", ElementName(summed)));
  if (!no_sum.empty()) return refuse(no_sum);
  if (const std::string why = WhyNotRepeatable(tree, parts); !why.empty()) return refuse(why);
  for (const int node : Subtree(tree, kernel)) {
    const SyntaxNode& variable = tree.node(node);
    const std::string type = WithoutConst(variable.type);
    if (variable.kind_name != "VarDecl" || IsWithin(tree, node, parts.loop) || IsWithinAny(tree, node, parts.epilogue)) continue;
    if (IsArithmetic(type) && type != "float" && type != "double") parts.variables.insert(node);
  }
  return parts;
}

}  // namespace evo
