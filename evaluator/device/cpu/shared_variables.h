#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace evo {

// Places a block's static shared variables in an area, one behind the other, in the order in which the kernel first uses them.
class SharedVariables {
 public:
  struct Variable {
    std::uintptr_t begin;
    std::size_t bytes;
    bool Holds(std::uintptr_t address, std::size_t size) const {
      return address - begin < bytes && size <= bytes - (address - begin);
    }
  };
  // What a variable takes with what is between it and the next.
  static std::size_t RoundUp(std::size_t bytes);

  SharedVariables(char* area, std::size_t bytes) : area_(area), area_bytes_(bytes) {}

  // Forgets all variables. `spaced` keeps them apart, so that an index beyond one does not hit the next.
  void BeginLaunch(bool spaced);
  // Where the variable lies, and whether it is new. Null when the variables take more than a block may have; declared() is how
  // much.
  std::pair<char*, bool> Place(unsigned slot, std::size_t bytes);

  // Bytes asked for so far, each variable rounded up to its alignment.
  std::size_t declared() const { return declared_; }
  // The part of it that the block has got.
  std::size_t granted() const { return granted_; }
  // Bytes of the area that have variables, or gaps between them.
  std::size_t placed() const { return placed_; }

  // Whether the range is within one variable.
  bool Hold(std::uintptr_t address, std::size_t bytes);
  // The nearest variable below the address, or the first; null if there is none.
  const Variable* Nearest(std::uintptr_t address) const;

 private:
  char* area_;
  std::size_t area_bytes_;
  bool spaced_ = false;
  std::size_t placed_ = 0, declared_ = 0, granted_ = 0;
  std::map<std::pair<unsigned, std::size_t>, char*> places_;  // by slot and size
  std::vector<Variable> variables_;                           // by address
  std::size_t last_ = 0;                                      // the variable of the last call of Hold
};

}  // namespace evo
