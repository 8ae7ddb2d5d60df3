#include "syntax/kept_preambles.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <stdlib.h>
#include <unistd.h>

#include <system_error>

#include "core/digest.h"
#include "platform/user_cache.h"
#include "syntax/flattener.h"
#include "syntax/libclang.h"

namespace evo {
namespace {

namespace fs = std::filesystem;

// The preamble as a source of its own; false if it has errors.
bool Precompile(CXIndex index, const std::string& preamble, const std::vector<std::string>& arguments, const fs::path& file) {
  std::vector<const char*> pointers;
  for (const std::string& argument : arguments) pointers.push_back(argument.c_str());
  const std::string name = file.string() + ".cu";
  CXUnsavedFile contents{name.c_str(), preamble.data(), preamble.size()};
  constexpr unsigned kOptions = CXTranslationUnit_ForSerialization | CXTranslationUnit_Incomplete |
                                CXTranslationUnit_SkipFunctionBodies | CXTranslationUnit_KeepGoing;
  CXTranslationUnit unit = nullptr;
  if (Clang().parseTranslationUnit2(index, name.c_str(), pointers.data(), static_cast<int>(pointers.size()), &contents, 1,
                                    kOptions, &unit) != CXError_Success)
    return false;
  // Written under another name first, so that other processes see all of it or nothing.
  const bool made = ErrorsOf(unit, name, 0).empty() && Clang().saveTranslationUnit(unit, file.c_str(), 0) == CXSaveError_None;
  Clang().disposeTranslationUnit(unit);
  return made;
}

}  // namespace

KeptPreambles::KeptPreambles(const fs::path& folder) : folder_(OwnFolder(folder)) {}

// A confined process may read the folder only; making what it cannot keep would cost it as much again as the parse.
bool KeptPreambles::CanWrite() const {
  std::string name = (folder_ / "new-XXXXXX").string();
  const int file = ::mkstemp(name.data());
  if (file < 0) return false;
  ::close(file);
  ::unlink(name.c_str());
  return true;
}

fs::path KeptPreambles::Find(CXIndex index, const std::string& preamble, const std::vector<std::string>& arguments) const {
  if (folder_.empty() || preamble.find('"') != std::string::npos) return {};
  const CXString version = Clang().getClangVersion();
  const std::string key = Digest(fmt::format("{}\n{}\n{}", Clang().getCString(version), fmt::join(arguments, "\n"), preamble));
  Clang().disposeString(version);
  const fs::path file = folder_ / fmt::format("preamble-{}.pch", key);
  std::error_code failed;
  if (fs::exists(file, failed)) {
    MarkUsed(file);
    return file;
  }
  if (!CanWrite()) return {};
  RemoveUnused(folder_);
  return Precompile(index, preamble, arguments, file) ? file : fs::path();
}

bool KeptPreambles::RemoveRefused(CXTranslationUnit unit, const fs::path& file) {
  bool refused = unit == nullptr;
  for (const std::string& error : refused ? std::vector<std::string>() : ErrorsOf(unit, "", 0))
    refused = refused || error.find(file.filename().string()) != std::string::npos;
  std::error_code ignored;
  if (refused) fs::remove(file, ignored);
  return refused;
}

}  // namespace evo
