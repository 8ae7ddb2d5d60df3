#include "mutators/analysis/thread_runs/thread_structs.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace evo {
namespace {

constexpr std::size_t kMostPartsOfStruct = 8;

// Of `const struct Best &`, `Best *` and `Best[32]`: the name.
std::string_view NameOfStruct(std::string_view type) {
  type = type.substr(0, type.find_first_of("*&["));
  for (bool shorter = true; shorter;) {
    shorter = false;
    for (const std::string_view word : {"const ", "volatile ", "struct "}) {
      if (!type.starts_with(word)) continue;
      type.remove_prefix(word.size());
      shorter = true;
    }
  }
  while (type.ends_with(' ')) type.remove_suffix(1);
  return type;
}

// Whether so many parts of four bytes fill what `__align__(8)` asks for.
bool HasNoPadding(std::size_t parts, std::string_view aligned) {
  if (aligned.empty()) return true;
  const std::size_t open = aligned.find_last_of('('),
                    digits = aligned.find_first_of("123456789", open == aligned.npos ? 0 : open);
  std::size_t bytes = 0;
  if (digits != aligned.npos) std::from_chars(aligned.data() + digits, aligned.data() + aligned.size(), bytes);
  return bytes > 0 && parts * 4 % bytes == 0;
}

}  // namespace

ThreadStructs::ThreadStructs(const SyntaxTree& tree) {
  for (int at = 0; at < static_cast<int>(tree.nodes().size()); ++at) {
    const SyntaxNode& node = tree.node(at);
    if (node.kind_name != "StructDecl" || node.name.empty() || NumberOf(node.name) >= 0) continue;
    Struct found{node.name, {}};
    std::string_view aligned;
    const bool plain = std::all_of(node.children.begin(), node.children.end(), [&](int child) {
      const SyntaxNode& member = tree.node(child);
      if (member.kind_name == "attribute(aligned)") aligned = tree.Text(child);
      if (member.kind_name == "CXXMethod" || member.kind_name == "attribute(aligned)") return true;
      if (member.kind_name != "FieldDecl") return false;
      found.parts.push_back({member.name, ThreadTypeOf(member.type)});
      // One with a value of its own is set by a constructor.
      const auto is_type = [&](int part) { return tree.node(part).kind_name == "TypeRef"; };
      return found.parts.back().type != ThreadType::kOther &&
             std::all_of(member.children.begin(), member.children.end(), is_type);
    });
    if (plain && HasNoPadding(found.parts.size(), aligned) && !found.parts.empty() && found.parts.size() <= kMostPartsOfStruct)
      structs_.push_back(std::move(found));
  }
}

int ThreadStructs::NumberOf(std::string_view type) const {
  if (structs_.empty() || std::count(type.begin(), type.end(), '*') > 1 || type.find('(') != std::string_view::npos) return -1;
  const std::string_view name = NameOfStruct(type);
  const auto known = std::find_if(structs_.begin(), structs_.end(), [&](const Struct& one) { return one.name == name; });
  return known == structs_.end() ? -1 : static_cast<int>(known - structs_.begin());
}

int ThreadStructs::PartNamed(int number, std::string_view name) const {
  const auto& parts = structs_[static_cast<std::size_t>(number)].parts;
  const auto known = std::find_if(parts.begin(), parts.end(), [&](const Part& one) { return one.name == name; });
  return known == parts.end() ? -1 : static_cast<int>(known - parts.begin());
}

}  // namespace evo
