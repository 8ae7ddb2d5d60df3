#pragma once

#include <string>
#include <utility>

namespace evo {

// Why a kernel that runs on numbers is not understood. The first reason counts; from then on nothing else does.
class Refusal {
 public:
  void Add(std::string why) {
    if (why_.empty()) why_ = std::move(why);
  }
  bool given() const { return !why_.empty(); }
  const std::string& why() const { return why_; }

 private:
  std::string why_;
};

}  // namespace evo
