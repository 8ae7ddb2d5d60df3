#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "mutators/analysis/thread_runs/thread_node.h"
#include "syntax/syntax_tree.h"

namespace evo {

// The structs of a source that are nothing but a few numbers, such as a value and its place. A struct is a vector whose parts
// have types of their own; in memory its parts are neighbouring elements.
class ThreadStructs {
 public:
  // What a part counts for, in bytes: no number has as many, so that nothing else is taken for a part.
  static constexpr int kBytesOfPart = 67;

  explicit ThreadStructs(const SyntaxTree& tree);

  // The number of a struct, by its type, by a reference to it, or by what a pointer or an array has of it; -1 for others.
  int NumberOf(std::string_view type) const;
  std::size_t CountOf(int number) const { return structs_[static_cast<std::size_t>(number)].parts.size(); }
  // Of the part that an element of memory is.
  const std::string& NameAt(int number, std::int64_t index) const { return PartAt(number, index).name; }
  ThreadType TypeAt(int number, std::int64_t index) const { return PartAt(number, index).type; }
  // Also of no struct, whose parts are none.
  bool IsIntegerAt(int number, std::int64_t index) const {
    return number >= 0 && (TypeAt(number, index) == ThreadType::kInteger || TypeAt(number, index) == ThreadType::kUnsigned);
  }
  // The number of a part; -1 if there is none of this name.
  int PartNamed(int number, std::string_view name) const;

 private:
  struct Part {
    std::string name;
    ThreadType type = ThreadType::kOther;
  };
  struct Struct {
    std::string name;
    std::vector<Part> parts;
  };
  const Part& PartAt(int number, std::int64_t index) const {
    const auto& parts = structs_[static_cast<std::size_t>(number)].parts;
    return parts[static_cast<std::size_t>(index) % parts.size()];
  }

  std::vector<Struct> structs_;
};

}  // namespace evo
