#pragma once

#include <set>
#include <string>
#include <utility>

namespace evo {

// Keeps a name in a set while it is alive.
class Expansion {
 public:
  Expansion(std::set<std::string>& names, const std::string& name) : names_(names), at_(names.insert(name)) {}
  ~Expansion() {
    if (at_.second) names_.erase(at_.first);
  }
  Expansion(const Expansion&) = delete;
  Expansion& operator=(const Expansion&) = delete;
  bool reaches_itself() const { return !at_.second; }

 private:
  std::set<std::string>& names_;
  std::pair<std::set<std::string>::iterator, bool> at_;
};

}  // namespace evo
