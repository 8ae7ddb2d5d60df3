#pragma once

#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "import/draft_builder.h"

namespace evo {

// Where the host mentions a pointer, besides allocating, filling, freeing and copying it, and launching what the task takes over.
class PointerMentions {
 public:
  // `exchanged`: the host swaps it with another one in a loop that the task takes over. The arguments must outlive the object.
  PointerMentions(const SourceProgram& program, const HostCode& host, const std::vector<TakenLaunch>& launches,
                  const HostCode::Pointer& pointer, bool exchanged);

  // Whether there is one: an argument of another call or launch, another variable that gets it, an element that is read.
  bool Any() const;
  // Launches that the host does not get to, which do not count.
  void LeaveOut(std::vector<const HostLaunch*> launches) { left_out_ = std::move(launches); }

 private:
  bool InFunction(int function) const;
  bool IsFollowed(const HostCall& call) const;
  bool IsTaken(const HostLaunch& launch) const;
  bool IsPointer(std::size_t first, std::size_t end, int function) const;
  bool IsDeclared(std::size_t at) const;
  bool IsUse(std::size_t first, std::size_t end, bool in_own_call) const;
  bool IsOtherPointer(std::size_t value) const;

  const SourceProgram& program_;
  const HostCode& host_;
  const std::vector<TakenLaunch>& launches_;
  const HostCode::Pointer& pointer_;
  bool exchanged_;
  std::vector<const HostLaunch*> left_out_;
  std::map<std::size_t, const HostCall*> calls_;  // by the token of the name
};

}  // namespace evo
