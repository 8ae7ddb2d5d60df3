#pragma once

#include <optional>
#include <string>
#include <variant>

#include "mutators/analysis/stencils/stencil.h"
#include "mutators/parallelism/stencils/stencil_begin.h"
#include "mutators/parallelism/stencils/stencil_edges.h"
#include "mutators/parallelism/stencils/stencil_groups.h"
#include "mutators/parallelism/stencils/stencil_loads.h"
#include "mutators/parallelism/stencils/stencil_ring.h"
#include "mutators/parallelism/stencils/stencil_stages.h"
#include "mutators/parallelism/stencils/stencil_sum.h"
#include "mutators/parallelism/stencils/stencil_text.h"
#include "mutators/parallelism/stencils/walking_parts.h"

namespace evo {

// Writes a stencil whose threads walk along the last axis, and sum up the elements of a plane that have equal weights once for
// all results that need them. Of three dimensions planes come through shared memory, of two rows into registers.
class StencilSumWriter {
 public:
  // `context` and `found` must outlive the object.
  StencilSumWriter(const MutationContext& context, const Stencil& found, StencilParameters parameters);
  StencilSumWriter(const StencilSumWriter&) = delete;  // its parts refer to each other
  StencilSumWriter& operator=(const StencilSumWriter&) = delete;

  // Why the kernel cannot be written so; empty if it can. Otherwise nothing else may be asked for.
  const std::string& why() const { return why_; }
  // What stands before the kernel.
  std::string Functions() const;
  // The kernel's body with its braces.
  std::string Body() const;
  std::string Grid() const { return parts_.layout.Grid(); }
  std::string Block() const { return parts_.layout.Block(); }
  // Registers that a thread needs for neighbours and results, as an expression.
  std::string Registers() const;
  // Bytes of shared memory that a block needs, as an expression; of three dimensions only.
  std::string SharedBytes() const { return stages_.Bytes(); }
  // Constants whose values the text relies on.
  const std::string& relied() const { return sum_.relied; }

 private:
  std::string Understand();
  std::string Begin() const;
  std::string EdgeBits() const;
  std::string EdgeValue(const std::string& own) const;
  std::string Element(const std::string& indent) const;
  std::string Taken() const;
  std::string Kept() const;
  std::string AdvancePlane() const;
  std::string StorePlane() const;
  std::string PlaneLoop() const;
  std::string AdvanceRow() const;
  std::string RowLoop() const;
  bool HasOwn() const { return !sum_.edge.neighbours().empty(); }
  std::int64_t Behind() const { return parts_.found.highest[parts_.layout.last()]; }

  const WalkingParts parts_;
  const StencilText text_;
  const StencilBegin begin_;
  const StencilLoads loads_;
  const StencilStages stages_;
  const StencilRing ring_;
  StencilSum sum_;
  std::optional<StencilEdges> edges_;
  std::optional<StencilGroups> groups_;
  std::string why_;
};

}  // namespace evo
