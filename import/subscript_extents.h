#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "import/draft_builder.h"
#include "import/draft_names.h"

namespace evo {

// A dimension of a buffer by the kernel's parameter, or "gridDim.x", and what that is in a launch; nullopt: the host does not
// say.
struct SubscriptExtent {
  std::string name;
  std::optional<HostExpression> value;
};

// A buffer's dimensions, the outermost first.
using SubscriptShape = std::vector<SubscriptExtent>;

// The shapes of what a launch passes for a parameter, by the subscripts of the kernel that show all dimensions: of x[row * n + i]
// the last one is n, where n is a parameter, and the one before is that of `row`: the parameter below which it stays by some
// condition of the kernel, or the grid's if it is the block's index. Also through variables that are set once, and in nested
// ones, x[(b * rows + r) * n + i].
// Precondition: the parameter is a pointer.
std::vector<SubscriptShape> ShapesBySubscripts(const SourceProgram& program, const TakenLaunch& launch, std::size_t parameter);

// The shape in which all of these agree of which every dimension is a size of the draft; empty if they differ or there is none.
std::vector<std::string> AgreedShape(const std::vector<SubscriptShape>& shapes, const DraftNames& names, const TaskDraft& draft);

}  // namespace evo
