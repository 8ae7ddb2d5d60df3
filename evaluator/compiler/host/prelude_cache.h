#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace evo {

// Keeps the precompiled form of the header that every program on the cpu device includes first. Making it takes a second and
// 35 MB, so it is kept in the user's cache folder for every later process: one for each compiler, processor and set of
// options, and made again when a file that it came from has another size or time. What nothing has used for 30 days is removed.
class PreludeCache {
 public:
  // compiler: g++. folder: where to keep them, created if need be; empty, or another user's: nowhere. scratch: an existing
  // private folder, for what cannot be kept.
  PreludeCache(std::filesystem::path compiler, const std::filesystem::path& folder, std::filesystem::path scratch);

  // The header to name after -include in a compilation with these options. `object`: how to compile what every program links
  // beside it, of headers that it includes; it is then Companion(header). Throws Error with the compiler's first error if one of
  // them cannot be compiled.
  std::filesystem::path Find(const std::vector<std::string>& options, const std::vector<std::string>& object = {}) const;
  static std::filesystem::path Companion(const std::filesystem::path& header);

 private:
  std::filesystem::path Make(const std::filesystem::path& entry, const std::vector<std::string>& options,
                             const std::vector<std::string>& object) const;

  std::filesystem::path compiler_, folder_, scratch_;
};

// The files that a rule written by -MD names after its target.
std::vector<std::string> ParseDependencies(const std::string& rule);

}  // namespace evo
