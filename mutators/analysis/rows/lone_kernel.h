#pragma once

#include <string>
#include <vector>

#include "mutators/analysis/block_runs/thread_roles.h"
#include "mutators/analysis/rows/lone_state.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/mutator.h"

namespace evo {

// A kernel whose blocks, or whose warps, share the loops of a row, as the work of single threads. While its statements are
// written down for these, the threads of a group run on numbers: what they combine, and what a single thread has, is compared
// wherever it is read (lone_state.h).
class LoneKernel {
 public:
  // The arguments outlive the object.
  LoneKernel(const MutationContext& context, int kernel, const LaunchDirective& launch, bool of_warps)
      : tree_(context.tree),
        kernel_(kernel),
        launch_(launch),
        threads_(context, kernel, launch),
        state_(context.tree, kernel, threads_, threads_.Groups(of_warps), FreshName(context.tree, "row_of_block")) {}
  // The kernel's body with its braces; empty if it stays as it is, and why() may say more.
  std::string Body();
  const std::string& why() const { return why_; }
  // Whether a loop goes on by as many elements as a group has threads.
  bool has_loop() const { return has_loop_; }
  // How many blocks there are where each had several rows and has one now; empty if there are as many as before.
  const std::string& grid() const { return grid_; }

 private:
  bool Refuse(std::string why);
  bool NotUnderstood(int node) { return Refuse(Quoted(tree_, node) + " is not understood"); }
  std::string Text(int node);
  bool IsLast(int statement) const;

  // Each writes statements for a single thread, or says why not.
  bool Statements(int body, std::string& text);
  bool Statement(int statement, std::string& text);
  bool Declaration(int statement, std::string& text);
  bool DeclaresIndex(int statement, int variable, int value, std::string& text);
  // A statement that a single thread executes as it is.
  bool Single(int statement, std::string& text);
  // One that threads execute together, of which a single thread takes the results.
  bool Together(int statement);
  // `if (threadIdx.x == 0) {..}`, or the same for other threads, which work together then.
  bool ForSomeThreads(int statement, std::string& text);
  // A condition that is the same for all threads, around their loops.
  bool UnderCondition(int statement, std::string& text);
  // `for (int row = blockIdx.x; row < rows; row += gridDim.x)`: there is a block for each row afterwards, if no turn needs
  // another.
  bool LoopOverRows(int statement, std::string& text);
  bool SharedLoopAt(int statement, std::string& text);

  const SyntaxTree& tree_;
  int kernel_;
  const LaunchDirective& launch_;
  ThreadRoles threads_;
  LoneState state_;
  bool has_loop_ = false;
  std::string grid_;
  std::string why_;
};

}  // namespace evo
