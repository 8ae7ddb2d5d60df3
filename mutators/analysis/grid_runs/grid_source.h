#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "core/expression.h"
#include "mutators/mutator.h"

namespace evo {

// A source that is looked at as a whole, whatever its kernels are: what its launch lines say, and on what its work depends.
class GridSource {
 public:
  // The context outlives the object.
  explicit GridSource(const MutationContext& context);

  const std::vector<const LaunchDirective*>& launches() const { return launches_; }
  // Whether each kernel that is launched has a definition, and some kernel has a loop or threads that work together.
  bool resembles_work() const { return defined_ && resembles_; }
  bool has_loop() const { return has_loop_; }
  // The only size that launch lines, workspaces and macros name. Empty for none, and for several: rows, or something else.
  const std::string& size() const { return size_; }
  // All that they name.
  const std::set<std::string>& sizes() const { return sizes_; }
  // Whether it may need 64 bits.
  bool wide() const { return wide_; }

  int KernelNamed(const std::string& launched) const;
  // Names of the kernels that are launched, each once, in the order of the first launches.
  std::vector<std::string> Kernels() const;
  // Definitions of all kernels that are launched, and of what only they call.
  std::vector<int> AllFunctions() const;

  // The present values of the parameters on which the work depends, where these macros and constants were used; `hidden` if one
  // was used by another name.
  Parameters Deciding(const std::set<std::string>& names, bool& hidden) const;
  // All other settings of these parameters that are legal; none of more than eight times `most` of them.
  std::vector<Parameters> OtherSettings(const Parameters& deciding, std::size_t most) const;

 private:
  void FindLaunches();
  void FindSize();
  void AddNames(const Expression& expression, std::set<std::string>& names) const;
  void AddArgument(const std::string& text, std::set<std::string>& names);

  const MutationContext& context_;
  const SyntaxTree& tree_;
  std::vector<const LaunchDirective*> launches_;
  bool defined_ = true, resembles_ = false, has_loop_ = false, wide_ = false;
  std::string size_;
  std::set<std::string> sizes_;
};

}  // namespace evo
