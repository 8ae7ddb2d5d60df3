#pragma once

#include <string>
#include <vector>

namespace evo {

// What `--device` asks for, made definite.
struct DeviceChoice {
  std::string kind;           // "cuda" or "cpu"
  std::vector<int> ordinals;  // of the GPUs; {0} for cpu
};

// auto: the first GPU if there is one, else cpu. "cuda", "cuda:1", "cuda:0,2", "cuda:all", "cpu". Throws UsageError for a word
// that is none of these, a GPU that is not there, or GPUs that differ, with the reason.
DeviceChoice ChooseDevice(const std::string& asked);

}  // namespace evo
