#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "syntax/syntax_tree.h"

namespace evo {

// Texts, each with a bit of a set.
class NumberedTexts {
 public:
  // 0 if there are too many.
  std::uint32_t BitOf(std::string_view text);
  std::set<std::string> In(std::uint32_t bits) const;

 private:
  std::vector<std::string> texts_;
};

// The names of the members of a struct, each a number, of CUDA's vectors or of this file; one empty name for any other type.
std::vector<std::string> MembersOf(const SyntaxTree& tree, const std::string& type);
// The type of one of them, or of the elements of an array.
std::string MemberType(const SyntaxTree& tree, const std::string& type, const std::string& member);

}  // namespace evo
