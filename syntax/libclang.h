#pragma once

#include <clang-c/Index.h>

// The functions of libclang 16 that this folder calls, without their prefix `clang_`.
#define EVO_LIBCLANG_FUNCTIONS(FUNCTION) \
  FUNCTION(File_isEqual)                 \
  FUNCTION(createIndex)                  \
  FUNCTION(defaultReparseOptions)        \
  FUNCTION(disposeDiagnostic)            \
  FUNCTION(disposeIndex)                 \
  FUNCTION(disposeString)                \
  FUNCTION(disposeTranslationUnit)       \
  FUNCTION(equalCursors)                 \
  FUNCTION(getCString)                   \
  FUNCTION(getCanonicalType)             \
  FUNCTION(getClangVersion)              \
  FUNCTION(getCursorExtent)              \
  FUNCTION(getCursorKind)                \
  FUNCTION(getCursorKindSpelling)        \
  FUNCTION(getCursorReferenced)          \
  FUNCTION(getCursorSpelling)            \
  FUNCTION(getCursorType)                \
  FUNCTION(getDiagnostic)                \
  FUNCTION(getDiagnosticLocation)        \
  FUNCTION(getDiagnosticSeverity)        \
  FUNCTION(getDiagnosticSpelling)        \
  FUNCTION(getExpansionLocation)         \
  FUNCTION(getFile)                      \
  FUNCTION(getFileName)                  \
  FUNCTION(getNumDiagnostics)            \
  FUNCTION(getRangeEnd)                  \
  FUNCTION(getRangeStart)                \
  FUNCTION(getSpecializedCursorTemplate) \
  FUNCTION(getTranslationUnitCursor)     \
  FUNCTION(getTypeSpelling)              \
  FUNCTION(hashCursor)                   \
  FUNCTION(isConstQualifiedType)         \
  FUNCTION(isCursorDefinition)           \
  FUNCTION(isDeclaration)                \
  FUNCTION(isExpression)                 \
  FUNCTION(isReference)                  \
  FUNCTION(isStatement)                  \
  FUNCTION(isVolatileQualifiedType)      \
  FUNCTION(parseTranslationUnit2)        \
  FUNCTION(reparseTranslationUnit)       \
  FUNCTION(saveTranslationUnit)          \
  FUNCTION(visitChildren)

namespace evo {

// libclang, opened when a process first asks for it: with LLVM it costs 25 ms and 60 MiB, and most processes parse nothing.
struct Libclang {
#define EVO_LIBCLANG_MEMBER(name) decltype(&::clang_##name) name;
  EVO_LIBCLANG_FUNCTIONS(EVO_LIBCLANG_MEMBER)
#undef EVO_LIBCLANG_MEMBER
};

// Throws Error if libclang cannot be opened.
const Libclang& Clang();

}  // namespace evo
