#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "import/source_program.h"

namespace evo {

// A declaration of the file or of a namespace in it.
struct DeviceItem {
  SourceRange range;
  std::set<std::string> names;
  std::vector<int> nodes;
  bool host = false;      // never kept
  bool variable = false;  // kept only if a kept item refers to it
  bool kept = false;
};

// The declarations of a program, those marked that kernels or types need, directly or through one another.
class DeviceItems {
 public:
  DeviceItems(const SourceProgram& program, const std::set<std::string>& kernels, const std::set<std::string>& types);

  const std::vector<DeviceItem>& all() const { return items_; }
  // Namespaces and blocks of `extern "C"`.
  const std::vector<SourceRange>& scopes() const { return scopes_; }
  // Whether what is kept needs this macro.
  bool Needs(const ProgramMacro& macro) const { return macros_.contains(macro.range.begin); }
  // Every identifier in what is kept.
  const std::set<std::string>& words() const { return words_; }

 private:
  void ReadItems(int parent);
  static bool IsBlock(std::string_view text);
  void AddItem(int outer, int inner);
  void MergeItems();
  void AddWords(std::string_view text);
  bool IsOutOfReach(const DeviceItem& item) const;
  bool IsReferredTo(const DeviceItem& item) const;
  void Close();
  void Keep(DeviceItem& item);

  const SourceProgram& program_;
  const SyntaxTree& tree_;
  const std::set<std::string>& kernels_;
  std::vector<DeviceItem> items_;
  std::vector<SourceRange> scopes_;
  std::vector<std::string> scope_names_;  // empty for `extern "C"` and unnamed namespaces
  std::set<std::uint32_t> macros_;        // kept, by their offsets
  std::set<std::string> macro_words_;
  std::set<std::string> words_;
  std::set<std::string> plain_;  // words without a qualification
};

}  // namespace evo
