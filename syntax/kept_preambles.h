#pragma once

#include <clang-c/Index.h>

#include <filesystem>
#include <string>
#include <vector>

namespace evo {

// Keeps what sources include, precompiled, for every later process: reading it takes 20 ms, and parsing it half a second. One
// file for each preamble, set of arguments and version of libclang, of 5 to 8 MB.
class KeptPreambles {
 public:
  // folder: where, created if need be; empty, or another user's: nowhere.
  explicit KeptPreambles(const std::filesystem::path& folder);

  // The file to name after -include-pch when a source that begins with the preamble is parsed with these arguments. Made if it is
  // not there. Empty if it cannot be kept: nothing can be written, the headers have errors, or one is named relative to a source.
  std::filesystem::path Find(CXIndex index, const std::string& preamble, const std::vector<std::string>& arguments) const;

  // Whether libclang refused the file in a parse that made this unit (null if none), as it does when a header has changed since.
  // Removes it then.
  static bool RemoveRefused(CXTranslationUnit unit, const std::filesystem::path& file);

 private:
  bool CanWrite() const;

  std::filesystem::path folder_;
};

}  // namespace evo
