#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "mutators/analysis/reductions/reduction.h"

namespace evo {

// The names of the parameters of a rewritten reduction.
struct ReductionParameters {
  std::string threads;  // of a block
  std::string items;    // vectors that a thread has under way at a time
  std::string vector;   // neighbouring elements that it reads at once
};

// Writes the body of a reduction whose threads add up several elements each in registers, then by shuffles, with one shared value
// a warp.
class ReductionWriter {
 public:
  // With `spread` the blocks take other elements than before, as many blocks as there are. The arguments outlive the writer.
  ReductionWriter(const MutationContext& context, const Reduction& reduction, ReductionParameters parameters, bool spread);

  // The kernel's body with its braces.
  std::string Body() const;
  // Lengths of vectors that the loads allow, ascending; only 1 if no load goes through consecutive elements.
  std::vector<std::int64_t> Vectors() const;

 private:
  // A load of consecutive elements.
  struct Load {
    int node = -1;
    std::string type;
    std::string part;  // the name of the array that has its vectors
  };

  // What the body calls things.
  struct Words {
    std::string type;                 // of the element's number
    std::string number;               // its name
    std::vector<std::string> values;  // the names of the partial results
    std::string first;                // the name of a round's first element
    std::string begin, end, step;
  };

  void FindWords();
  void FindRange();
  void FindLoads();
  std::string Fresh(const std::string& wanted) const;
  bool HasVectors() const { return !loads_.empty(); }
  std::string VectorType(const std::string& type) const;
  std::string NameOf(std::size_t result) const;
  std::string Combine(std::size_t result, const std::string& value) const;
  std::vector<std::string> ElementLines(bool from_vectors) const;
  std::string Rounds() const;
  std::string WholeRound() const;
  std::string Values(const std::string& indent, bool from_vectors) const;
  std::string TextOf(int node, bool from_vectors) const;
  std::string Loops() const;
  std::string LastStep() const;

  const SyntaxTree& tree_;
  const Reduction& found_;
  ReductionParameters names_;
  bool spread_;
  bool turns_;  // whether a block takes turns with the others, each with its rounds
  Words words_;
  std::vector<Load> loads_;                          // each once
  std::vector<std::pair<int, std::size_t>> places_;  // of all that are equal, by load
};

}  // namespace evo
