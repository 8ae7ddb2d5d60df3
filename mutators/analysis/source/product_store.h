#pragma once

#include <string>
#include <string_view>

#include "syntax/syntax_tree.h"

namespace evo {

// What runs on small numbers do not show of a kernel that stores sums.

// Whether a variable is a sum or a copy of one. What is done to a sum on its way into a variable would be lost.
bool IsSumItself(const SyntaxTree& tree, int variable);

// Whether an expression has a remainder or a quotient by a number of the code. An index may repeat itself so beyond small sizes.
bool IsFolded(const SyntaxTree& tree, int expression);

// Why a kernel's stored values cannot be taken for the sums that they were seen to be; empty if they can. It compares real
// numbers, or takes the larger of two, in something else than a value that it stores to a pointer; or it has doubles, although
// its elements are none.
std::string WhyNotPlain(const SyntaxTree& tree, int kernel);

// A real parameter in a condition, such as `beta == 0`; empty if there is none.
std::string RealThatDecides(const SyntaxTree& tree, int kernel);

// Whether a variable of a kernel is a double or an array of doubles.
bool HasDoubles(const SyntaxTree& tree, int kernel);

// Whether a type is that of integers of 8 bits.
bool IsByte(std::string_view type);

// Whether a loop of the kernel changes a variable of half or bfloat16 that is declared before it: a sum that is rounded after
// each step.
bool SumsInHalf(const SyntaxTree& tree, int kernel);

// Whether an `#if` of a source tests a macro.
bool IsTestedByIf(std::string_view text, const std::string& macro);

// Whether all pointers that it gets are to `int`, three of them at least, and nothing in it is shorter.
bool IsOfWords(const SyntaxTree& tree, int kernel);

// Whether it has so many pointers to real numbers, to bytes or to integers that it may be a product: of bytes into integers, too.
bool MayBeProduct(const SyntaxTree& tree, int kernel);

}  // namespace evo
