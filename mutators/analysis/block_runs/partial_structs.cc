#include "mutators/analysis/block_runs/partial_structs.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

#include "mutators/analysis/source/source_query.h"

namespace evo {
namespace {

constexpr std::size_t kMostTexts = 32;

// The type of the components of `float2`, and how many there are.
std::pair<std::string, std::size_t> VectorOf(const std::string& type) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kComponents{
      {{"float", "float"}, {"double", "double"}, {"int", "int"}, {"uint", "unsigned int"}, {"longlong", "long long"}}};
  for (const auto& [name, component] : kComponents) {
    const bool named = type.starts_with(name) && type.size() == name.size() + 1 && type.back() >= '2' && type.back() <= '4';
    if (named) return {std::string(component), static_cast<std::size_t>(type.back() - '0')};
  }
  return {};
}

// The fields of a struct of this file; empty if there is no such struct, or one that has more than fields.
std::vector<int> StructFields(const SyntaxTree& tree, const std::string& type) {
  for (const int one : NodesOfKind(tree, "StructDecl")) {
    if (tree.node(one).name != type) continue;
    const auto& fields = tree.node(one).children;
    const auto is_number = [&](int f) { return tree.node(f).kind_name == "FieldDecl" && IsArithmetic(tree.node(f).type); };
    return std::all_of(fields.begin(), fields.end(), is_number) ? fields : std::vector<int>{};
  }
  return {};
}

// Of `const volatile float[4][32]`.
std::string ElementType(const std::string& type) {
  std::string plain = WithoutConst(type);
  if (const std::size_t open = plain.find('['); open != std::string::npos) plain.resize(plain.find_last_not_of(" [", open) + 1);
  return plain;
}

}  // namespace

std::vector<std::string> MembersOf(const SyntaxTree& tree, const std::string& type) {
  const std::string plain = ElementType(type);
  std::vector<std::string> members;
  for (std::size_t i = 0; i < VectorOf(plain).second; ++i) members.emplace_back(1, "xyzw"[i]);
  if (!IsArithmetic(plain)) {
    for (const int field : StructFields(tree, plain)) members.push_back(tree.node(field).name);
  }
  return members.empty() ? std::vector<std::string>{""} : members;
}

std::string MemberType(const SyntaxTree& tree, const std::string& type, const std::string& member) {
  const std::string plain = ElementType(type);
  if (member.empty()) return plain;
  for (const int field : StructFields(tree, plain)) {
    if (tree.node(field).name == member) return WithoutConst(tree.node(field).type);
  }
  return VectorOf(plain).first;
}

std::uint32_t NumberedTexts::BitOf(std::string_view text) {
  const auto known = std::find(texts_.begin(), texts_.end(), text);
  const auto place = static_cast<std::size_t>(known - texts_.begin());
  if (known == texts_.end() && place < kMostTexts) texts_.emplace_back(text);
  return place < kMostTexts ? std::uint32_t{1} << place : 0;
}

std::set<std::string> NumberedTexts::In(std::uint32_t bits) const {
  std::set<std::string> texts;
  for (std::size_t i = 0; i < texts_.size(); ++i) {
    if ((bits >> i & 1u) != 0) texts.insert(texts_[i]);
  }
  return texts;
}

}  // namespace evo
