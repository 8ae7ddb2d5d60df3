#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "mutators/analysis/numbers/integer_arithmetic.h"
#include "mutators/analysis/thread_runs/thread_functions.h"
#include "mutators/analysis/thread_runs/thread_value.h"

namespace evo {

// What a conversion to a type makes of a number.
enum class ThreadType : std::uint8_t {
  kOther,  // nothing
  kShortReal,
  kReal,
  kUnsigned,  // of 32 bits
  kInteger,
};
ThreadType ThreadTypeOf(std::string_view type);

// What a node of the code is to a thread that comes by.
struct ThreadNode {
  enum class Expression : std::uint8_t {
    kUnknown,
    kLiteral,   // or a name of a header, a macro, or a constant of the file
    kVariable,  // of a function
    kSame,      // as its only part
    kCount,     // `++` or `--`
    kDereference,
    kAddress,
    kUnary,
    kAssignment,
    kComma,
    kAnd,
    kOr,
    kBinary,
    kConditional,
    kCast,
    kBuiltin,
    kRow,  // of an array of two dimensions or more
    kElement,
    kComponent,    // `.x` of a vector
    kReinterpret,  // what is at an address as another type: `reinterpret_cast<float4&>(a[i])`
    kParts,        // `{a, b}` as a struct
    kCall,
  };
  enum class Statement : std::uint8_t {
    kExpression,
    kBlock,
    kDeclarations,
    kReturn,
    kIf,
    kFor,
    kWhile,
    kDo,
    kBreak,
    kContinue,
    kSwitch,
    kNothing,
  };
  // What of an expression is assigned to.
  enum class Place : std::uint8_t { kUnknown, kVariable, kElement, kDereference, kComponent, kReinterpret };

  bool decided = false;
  // Whether it is computed from integers and addresses alone, and changes nothing (ThreadIntegers).
  bool plain = false;
  // Whether it only reads a variable, or an element at an address that is plain.
  bool reads = false;
  Expression expression = Expression::kUnknown;
  Statement statement = Statement::kExpression;
  Place place = Place::kUnknown;
  ThreadType type = ThreadType::kOther;
  bool real = false;          // its type
  bool vector = false;        // its type
  bool to_vectors = false;    // its type: a pointer to them, or an array
  int bytes = 0;              // of a number, a vector, or what it points to; 0 for other types
  int structure = -1;         // its type, or what it points to: its number in ThreadStructs
  char unary = '\0';          // an operator of one operand
  bool behind = false;        // a count that returns the number before it
  bool assigns_only = false;  // `=`, and not `+=` and the like
  IntegerOperator computed;   // a binary operator, or that of a compound assignment
  // What it is computed from: the first ones of its children, or the only one that has a value.
  std::array<int, 3> parts{-1, -1, -1};
  int bare = -1;            // the expression without parentheses
  int variable = -1;        // that it names; of an element that may be one of a table, the array
  int detail = -1;          // the number of its constant, call, loop or component, or the symbol of a built-in variable
  std::int64_t stride = 0;  // elements of a row
};

// What a name that stands for a number, or a literal, means.
struct ThreadConstant {
  std::string_view text;
  std::optional<std::int64_t> plain;  // of digits, or a bool; then the rest is left open
  bool is_bool = false;
  bool is_name = false;
  bool resolved = false;  // whether the rest is known
  bool depends_on_size = false;
  std::optional<std::int64_t> integer;
  std::optional<double> real;  // only of what is no integer
  TextPointer real_text;
};

struct ThreadCall {
  struct Parameter {
    int declaration = -1;
    ThreadType type = ThreadType::kOther;
    bool changes = false;  // what is passed: a reference
  };
  bool of_file = false;   // a function of the file
  bool compares = false;  // it has an atomicCAS, which finds out whether what it read before is still there
  int function = -1;      // that
  int body = -1;          // its body; -1 if it has none
  std::vector<Parameter> parameters;
  ThreadType returned = ThreadType::kOther;
  ThreadCallee callee{""};  // a function of a header; without a name if it is none
  std::span<const int> arguments;
};

// The parts of a loop; -1 for those it does not have.
struct ThreadLoop {
  int init = -1, condition = -1, increment = -1, body = -1;
};

// A variable or a parameter.
struct ThreadVariable {
  int declaration = -1;
  bool declared = false;  // by a statement
  bool parameter = false;
  bool shared = false;    // in shared memory
  bool constant = false;  // an array, a struct or a vector in constant memory
  bool device = false;    // at file scope, in global memory
  bool array = false;     // its type
  bool integers = false;  // a buffer of these
  bool reals = false;     // a buffer of these
  bool reference = false;
  ThreadType type = ThreadType::kOther;  // of an array, that of its elements; of those that are vectors, of their numbers
  int bytes = 0;                         // of a number of it, of its elements, or of what it points to
  int components = 0;                    // of these, if they are vectors
  int structure = -1;                    // likewise, if they are structs: its number in ThreadStructs
  std::vector<long long> extents;        // of an array
  int initialiser = -1, list = -1;       // what it is initialised with; a list of that
};

}  // namespace evo
