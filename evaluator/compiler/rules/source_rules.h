#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "evaluator/compiler/rules/source_tokens.h"

namespace evo {

// Why a candidate's source is not the same program for every compiler, or more than CUDA's language; nullopt if it is neither.
// NVRTC, nvcc and the cpu device's compiler must see one text, since one of them is judged and another makes what the user runs.
//
// Refused are: conditions on macros that the source does not define; names of the compilers' own macros, wherever they stand,
// also where `##` could make them; pragmas, attributes, built-in functions and #include files other than those known to be
// harmless; thread-local storage; functions of the host. Names are looked at before macros are expanded: a name that no token
// and no pasting of tokens of the source has cannot appear.
std::optional<SourceObjection> CheckSource(std::string_view source);

// "line 12: `__CUDA_ARCH__` is a macro of the compiler; ...".
std::string ToString(const SourceObjection& objection);

}  // namespace evo
