#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "import/draft_builder.h"

namespace evo {

// A loop of a kernel or of a device function, in names of the host.
struct KernelLoop {
  std::string step;      // its variable
  HostExpression terms;  // iterations of all threads that share it
  HostExpression trips;  // iterations of one thread
};

// Reads how often the loops of a launched kernel run.
class LoopReader {
 public:
  using Names = std::map<std::string, HostExpression>;  // what a function's parameters stand for

  // The arguments must outlive the object.
  LoopReader(const SourceProgram& program, HostCode& host, const TakenLaunch& launch)
      : program_(program), host_(host), launch_(launch) {}

  // Of `for (START; CONDITION; STEP)` in the function; nullopt if the bound is not known.
  std::optional<KernelLoop> Read(int loop, const ProgramFunction& function, const Names& names);
  // An expression of the function in names of the host, as far as they are known.
  HostExpression Resolved(const HostExpression& expression, const ProgramFunction& function, const Names& names) {
    return Resolved(expression, function, names, 0);
  }

 private:
  HostExpression Resolved(const HostExpression& expression, const ProgramFunction& function, const Names& names, int depth);
  bool IsOfHost(const HostExpression& expression) const;
  static std::optional<HostExpression> Without(const HostExpression& sum, const HostExpression& term);
  static std::optional<KernelLoop> Downwards(const std::vector<std::string_view>& step, KernelLoop loop,
                                             const HostExpression& half);

  const SourceProgram& program_;
  HostCode& host_;
  const TakenLaunch& launch_;
};

}  // namespace evo
