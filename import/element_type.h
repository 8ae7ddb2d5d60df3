#pragma once

#include <optional>
#include <string>
#include <vector>

#include "import/host_expression.h"
#include "import/source_program.h"

namespace evo {

// What the elements of an array, or a value, are made of.
struct ElementType {
  std::string dtype;  // "f32"
  int count = 1;      // 4 for float4, or for a struct of four floats
  int bytes() const;  // of one element
};

// The type without const, __restrict, references, and one `*`: "const float *__restrict" is "float".
std::string PointedType(const std::string& type);
bool IsPointerType(const std::string& type);
// Whether a type is one of numbers: "const unsigned long" and the like.
bool IsTypeOfNumber(std::string_view type);

// Whether a word of an argument says that there is no pointer.
inline bool IsNullWord(std::string_view word) { return word == "nullptr" || word == "NULL" || word == "0"; }

// Of a canonical type such as "float", "float4" or a struct of the program whose fields are all alike, or have as many bits,
// which then count as integers. nullopt for others.
std::optional<ElementType> ElementTypeOf(const SourceProgram& program, const std::string& type);

// The fields of a struct of the program: {"float", "a"}; empty if there is no such struct.
std::vector<ProgramParameter> FieldsOf(const SourceProgram& program, const std::string& type);

// Whether a type is a struct or class of the program that has functions and no fields, such as an operator.
bool HasOnlyFunctions(const SourceProgram& program, const std::string& type);
// The type of a new object of such a class, "Plus<float>" of `Plus<float>{}` or `Plus<float>()`; empty for anything else.
std::string NewObjectOf(const SourceProgram& program, const std::vector<std::string_view>& tokens);

// The same with the fields of structs inside of it: "inner.a".
std::vector<ProgramParameter> FlatFieldsOf(const SourceProgram& program, const std::string& type);

// The bytes of what `sizeof` names in a function: a type of the program, or an array that is declared with its lengths, also
// `sizeof x[0]`; nullopt if that is not known.
std::optional<HostExpression> SizeNamed(const SourceProgram& program, std::string_view named, int function);

// The canonical type of a name: of a typedef or a using of the program, or the name itself.
std::string CanonicalType(const SourceProgram& program, std::string_view name);

}  // namespace evo
