#pragma once

#include <cupti.h>
#include <cupti_pcsampling.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "evaluator/device/cuda/cupti_library.h"

namespace evo {

// The lines of source behind the instructions of an image that was compiled with them. Needs no GPU.
class SourceLines {
 public:
  // Both outlive this.
  SourceLines(const CuptiLibrary& cupti, const std::string& image);

  // The line, counted from 1, of the instruction at an offset in a function; 0: the image does not say it, or it is of a header.
  int Of(const std::string& function, std::uint64_t offset);

 private:
  int Find(const std::string& function, std::uint64_t offset) const;

  decltype(&cuptiGetSassToSourceCorrelation) find_ = nullptr;
  const std::string& image_;
  std::map<std::pair<std::string, std::uint64_t>, int> known_;
};

}  // namespace evo
