#pragma once

#include <vector>

#include "import/host_code.h"

namespace evo {

// Which launches the host gets to, as far as its values decide the conditions around them.
class LaunchReach {
 public:
  LaunchReach(const SourceProgram& program, HostCode& host) : program_(program), tree_(program.tree()), host_(host) {}

  bool IsReached(const HostLaunch& launch);
  // `case label:` of `switch (chosen)`.
  struct Case {
    HostExpression chosen, label;
  };
  // Those around a launch and the calls that lead to it, the outermost first.
  std::vector<Case> CasesAround(const HostLaunch& launch);
  // The conditions that were asked for in functions that call themselves, each as it holds with the host's values.
  const std::vector<HostExpression>& OfLevels() const { return of_levels_; }

 private:
  bool IsOfCase(const HostCall& call);
  std::vector<Case> CasesOf(const HostCall& call);
  bool IsLetThrough(const HostCall& call);
  bool IsBehindReturn(const HostCall& call);
  std::optional<bool> Decided(const SyntaxNode& statement, int function);

  const SourceProgram& program_;
  const SyntaxTree& tree_;
  HostCode& host_;
  std::vector<HostExpression> of_levels_;
};

}  // namespace evo
