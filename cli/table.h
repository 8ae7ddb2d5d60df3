#pragma once

#include <cstdio>
#include <string>
#include <vector>

namespace evo {

// A table for people: columns as wide as their longest cell, with two spaces between them and none at the end of a line.
class Table {
 public:
  // A heading that begins with '>' (which is not printed) aligns its column to the right, as numbers need it.
  explicit Table(std::vector<std::string> headings);
  // Precondition: as many cells as headings.
  void Add(std::vector<std::string> cells);
  void Print(std::FILE* out) const;

 private:
  std::vector<bool> right_;
  std::vector<std::vector<std::string>> rows_;  // the headings first
};

}  // namespace evo
