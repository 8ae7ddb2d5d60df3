#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace evo {

// The macros that a source defines and that PlainText writes out.
class MacroExpansion {
 public:
  explicit MacroExpansion(const std::string& text);

  // The text with all calls of these macros written out, in code only, and without the definitions that nothing names any more.
  std::string Expanded(std::string_view text) const { return WithoutDefinitions(Expand(text, {})); }
  // All macros that are defined.
  const std::set<std::string, std::less<>>& names() const { return names_; }

 private:
  struct Macro {
    bool has_arguments = false;
    std::vector<std::string> parameters;
    std::string body;
  };
  struct Call {
    std::vector<std::string> arguments;
    std::size_t end = 0;  // the token after it
  };

  void AddDefinition(std::string_view line);
  bool IsWrittenOut(const Macro& macro) const;
  std::string WithoutDefinitions(std::string text) const;
  std::string Expand(std::string_view text, const std::set<std::string, std::less<>>& disabled) const;
  std::string Substituted(const Macro& macro, const std::vector<std::string>& arguments) const;

  std::map<std::string, Macro, std::less<>> macros_;
  std::set<std::string, std::less<>> names_;  // all that are defined anywhere
};

}  // namespace evo
