#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "mutators/analysis/grid_runs/launch_numbers.h"
#include "mutators/analysis/stencils/stencil.h"
#include "mutators/analysis/stencils/stencil_by_results.h"
#include "mutators/analysis/stencils/stencil_launch.h"
#include "mutators/analysis/thread_runs/thread_formula.h"

namespace evo {

// What a part of a formula is without neighbours past an edge: one of its parts is kept, the other dropped.
struct SkippedPart {
  std::size_t kept = 0, dropped = 1;
};
// nullopt for what is none, such as a product.
std::optional<SkippedPart> SkippedIn(const ThreadFormula& formula);

// The formula that all elements of a stencil have, and what happens to neighbours past an edge.
class StencilFormulas {
 public:
  enum class Edge {
    kNone,      // all neighbours exist
    kNearest,   // the nearest element
    kOther,     // that at the other edge
    kConstant,  // a number
    kSkipped,   // they are left out, and a number of neighbours that exist may take part
    kElse,      // elements outside of `inside` have another formula
  };
  // The arguments must outlive the object. `stored`: what each launch stores.
  struct Runs {
    const SyntaxTree& tree;
    const LaunchNumbers& numbers;
    const Stencil& found;
    const StencilLaunches& launches;
    const std::array<StoredFormulas, 2>& stored;
  };
  explicit StencilFormulas(const Runs& runs) : runs_(runs) {}

  // False if there is none.
  bool Find();
  const std::string& why() const { return why_; }

  Edge edge() const { return edges_.edge; }
  // By buffer, what is stored. Elements of the buffers that are relative have the number of an offset as their index.
  const std::map<int, FormulaPointer>& inner() const { return inner_; }
  const std::map<int, FormulaPointer>& outer() const { return edges_.outer; }
  const std::array<Stencil::Range, 3>& inside() const { return edges_.inside; }
  const FormulaPointer& constant() const { return edges_.constant; }
  bool IsRelative(int buffer) const { return relative_.contains(buffer); }
  const StencilPlace& OffsetOf(const ThreadFormula& element) const {
    return offsets_.all[static_cast<std::size_t>(element.index)];
  }
  // Whether it stands for the number of neighbours that exist; then these are a box from the first to the second offset.
  bool IsCount(const ThreadFormula& formula) const;
  const StencilPlace& lowest() const { return edges_.lowest; }
  const StencilPlace& highest() const { return edges_.highest; }

 private:
  struct At {
    const StencilLaunch* launch = nullptr;
    StencilPlace place{};
    std::map<const ThreadFormula*, FormulaPointer> known;
  };

  bool Refuse(std::string why);
  void FindRelative();
  std::int64_t NumberOf(const StencilPlace& offset);
  FormulaPointer Relative(const FormulaPointer& formula, At& at);
  FormulaPointer Derived(const FormulaPointer& formula, At& at);
  FormulaPointer DerivedElement(const FormulaPointer& element, const At& at);
  std::int64_t CountAt(const At& at) const;
  std::string TextOf(const ThreadFormula& formula) const;
  std::string TextAt(const StoredFormulas& stored, std::int64_t element, At& at,
                     std::map<int, FormulaPointer>* formulas = nullptr);
  bool HoldsAtEdges();
  bool FindEdges();
  bool FindElse();
  void FindWindow();

  // Offsets of neighbours, each with a number.
  struct Offsets {
    std::vector<StencilPlace> all;
    std::map<StencilPlace, std::int64_t> numbers;
  };
  struct Edges {
    Edge edge = Edge::kNone;
    std::map<int, FormulaPointer> outer;
    std::array<Stencil::Range, 3> inside;
    FormulaPointer constant;
    StencilPlace lowest{}, highest{};
    bool window = false;  // whether neighbours are a whole box
    bool counts = false;  // whether their number at edges is that of those that exist
  };

  const Runs runs_;
  std::set<int> relative_;
  Offsets offsets_;
  std::array<std::map<std::int64_t, std::string>, 2> texts_;  // by element
  std::string inner_text_;
  std::map<int, FormulaPointer> inner_;
  Edges edges_;
  std::string why_;
};

}  // namespace evo
