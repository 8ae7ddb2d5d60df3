#pragma once

#include <cstdio>
#include <string>
#include <vector>

namespace evo {

// A table for people: columns as wide as their longest cell, two spaces between them, none at the end of a line.
class Table {
 public:
  // A heading that begins with '>' (left out when printed) asks for a column flush right, as numbers want it.
  explicit Table(std::vector<std::string> headings);
  // Precondition: as many cells as headings.
  void Add(std::vector<std::string> cells);
  void Print(std::FILE* out) const;

 private:
  std::vector<bool> right_;
  std::vector<std::vector<std::string>> rows_;  // the headings first
};

}  // namespace evo
