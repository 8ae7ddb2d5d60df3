#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mutators/analysis/source/source_query.h"
#include "mutators/mutator.h"
#include "syntax/syntax_tree.h"

namespace evo {

// A loop `for (int i = start; i < bound; i += step)` that counts upwards. Only its header declares and changes the counter, and
// neither the bound nor the step changes while it runs.
struct CountedLoop {
  ForLoop parts;
  int counter = -1;        // declaration
  int start = -1;          // expression
  std::string comparison;  // "<" or "<="
  int bound = -1;          // expression
  std::string step;        // spelled as an operand: "1" for ++i, "THREADS", "(2 * n)"
};

// nullopt if the loop's header does not have this form.
std::optional<CountedLoop> WithCountedHeader(const SyntaxTree& tree, int node);
// The same, for a loop that can be rewritten: its start is pure and loads nothing, so it may be evaluated again, and its body
// contains no `break`, goto, label, lambda, inline assembly, shared array, or macro that names the counter. It may contain
// `continue` and `return`, which JumpsOut() finds.
std::optional<CountedLoop> AsCountedLoop(const SyntaxTree& tree, int node);

// Whether the headers of two loops are spelled the same.
bool HaveSameHeader(const SyntaxTree& tree, const CountedLoop& a, const CountedLoop& b);
// Whether a `continue` or `return` may end an iteration early.
bool JumpsOut(const SyntaxTree& tree, int node);
// Whether a node is evaluated exactly once whenever `scope` is executed: under no condition and in no inner loop.
bool IsUnconditional(const SyntaxTree& tree, int node, int scope);
// Whether an earlier loop of the same block with the same header reads the element that a node of this loop's body reads, in
// every turn, so that it is there to be read.
bool IsReadByLoopBefore(const SyntaxTree& tree, int element, const CountedLoop& loop);

// Nodes and the texts that replace them.
using Replacements = std::vector<std::pair<int, std::string>>;
// The text of a node with nodes in it replaced. Of nested replacements, the outermost counts.
std::string TextWith(const SyntaxTree& tree, int node, const Replacements& replacements);
// Replaces every use of a declaration within a node by `text`.
Replacements UsesAs(const SyntaxTree& tree, int declaration, int within, const std::string& text);
// Replaces every use of the counter by `i + offset`, in parentheses unless the use is a whole subscript.
Replacements CounterForward(const SyntaxTree& tree, const CountedLoop& loop, int within, const std::string& offset);
// The statements of a body, with or without braces, as lines that begin with `indent`.
std::string Lines(const SyntaxTree& tree, int body, const std::string& indent, const Replacements& replacements = {});

// Whether a bare `#pragma unroll` asks for complete unrolling, so that splitting the loop changes nothing.
bool IsWrittenOut(const SyntaxTree& tree, const CountedLoop& loop);
// The number of iterations, if it is known under the present parameters.
std::optional<std::int64_t> TripCount(const SyntaxTree& tree, const CountedLoop& loop);
// Whether the compiler unrolls the loop completely by itself, so that splitting it changes nothing: a short loop without an inner
// loop and without a pragma. Of 49 children made from such loops, 46 had their parent's machine code.
bool IsShort(const SyntaxTree& tree, const CountedLoop& loop);
// A proposal that replaces the loop and its pragma by `text`. It applies only while the loop's body is unchanged.
Proposal ReplaceLoop(const CountedLoop& loop, const std::string& text);
bool ContainsLoop(const SyntaxTree& tree, int node);

// A number of steps: "4 * step", or "4" for the step "1", or "step" for the factor 1.
std::string Times(int factor, const std::string& step);
// The loop's header, `for (int i = start; i < bound; i += step)`, with another init, which may be empty.
std::string Header(const SyntaxTree& tree, const CountedLoop& loop, const std::string& init);
// The type and the name of the counter: "int i".
std::string CounterDeclaration(const SyntaxTree& tree, const CountedLoop& loop);

}  // namespace evo
