#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mutators/analysis/source_query.h"
#include "mutators/mutator.h"
#include "syntax/syntax_tree.h"

namespace evo {

// `for (int i = start; i < bound; i += step)`: counts upwards, its header alone declares and moves the counter, and bound and
// step do not change while it runs.
struct CountedLoop {
  ForLoop parts;
  int counter = -1;        // declaration
  int start = -1;          // expression
  std::string comparison;  // "<" or "<="
  int bound = -1;          // expression
  std::string step;        // an operand: "1" for ++i, "THREADS", "(2 * n)"
};

// nullopt if the loop's header is not of that kind.
std::optional<CountedLoop> WithCountedHeader(const SyntaxTree& tree, int node);
// The same for a loop that can be written down in another shape: its start is pure and reads no memory, so it may be evaluated
// again, and its body does not jump, declare shared memory or hide the counter in a macro. `continue` and `return` are left to
// JumpsOut().
std::optional<CountedLoop> AsCountedLoop(const SyntaxTree& tree, int node);

// Whether the headers of two loops are spelled alike.
bool HaveSameHeader(const SyntaxTree& tree, const CountedLoop& a, const CountedLoop& b);
// Whether a `continue` or `return` may end an iteration early.
bool JumpsOut(const SyntaxTree& tree, int node);
// Whether a node is evaluated every time that `scope` runs through, once: under no condition, in no inner loop.
bool IsUnconditional(const SyntaxTree& tree, int node, int scope);

// Text to put in the place of nodes.
using Replacements = std::vector<std::pair<int, std::string>>;
// The text of a node with nodes below it, or itself, replaced; of nested ones the outermost counts.
std::string TextWith(const SyntaxTree& tree, int node, const Replacements& replacements);
// Every use of a declaration within a node, replaced by `text`.
Replacements UsesAs(const SyntaxTree& tree, int declaration, int within, const std::string& text);
// Every use of the counter, put forward: `i + offset`, in parentheses where it is not alone between brackets.
Replacements CounterForward(const SyntaxTree& tree, const CountedLoop& loop, int within, const std::string& offset);
// The statements of a body, braces or none, as lines that are `indent` far in.
std::string Lines(const SyntaxTree& tree, int body, const std::string& indent, const Replacements& replacements = {});

// Whether it is marked to be written out whole, so that the compiler makes the same of it however it is cut.
bool IsWrittenOut(const SyntaxTree& tree, const CountedLoop& loop);
// How often it runs, where that is known under the present parameters.
std::optional<std::int64_t> TripCount(const SyntaxTree& tree, const CountedLoop& loop);
// Whether the compiler writes it out whole by itself, so that cutting it changes nothing: a short loop, without one inside it and
// without a pragma that says otherwise. Of 49 such children 46 had their parent's machine code.
bool IsShort(const SyntaxTree& tree, const CountedLoop& loop);
// Puts `text` in the place of the loop and its pragma, as long as its body is as it was.
Proposal ReplaceLoop(const CountedLoop& loop, const std::string& text);
bool ContainsLoop(const SyntaxTree& tree, int node);

// "4 * step", "4" for a step of one, "step" once.
std::string Times(int factor, const std::string& step);
// The header: `for (int i = start; i < bound; i += step)` with another beginning. An empty init leaves it out.
std::string Header(const SyntaxTree& tree, const CountedLoop& loop, const std::string& init);
// "int i".
std::string CounterDeclaration(const SyntaxTree& tree, const CountedLoop& loop);

}  // namespace evo
