#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "mutators/analysis/expression_kinds.h"
#include "mutators/analysis/integer_arithmetic.h"
#include "mutators/analysis/thread_functions.h"
#include "mutators/analysis/thread_value.h"
#include "syntax/syntax_tree.h"

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
    kNothing,
  };
  // What of an expression is assigned to.
  enum class Place : std::uint8_t { kUnknown, kVariable, kElement, kDereference };

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
  char unary = '\0';          // an operator of one operand
  bool behind = false;        // a count that returns the number before it
  bool assigns_only = false;  // `=`, and not `+=` and the like
  IntegerOperator computed;   // a binary operator, or that of a compound assignment
  // What it is computed from: the first ones of its children, or the only one that has a value.
  std::array<int, 3> parts{-1, -1, -1};
  int bare = -1;            // the expression without parentheses
  int variable = -1;        // that it names; of an element that may be one of a table, the array
  int detail = -1;          // the number of its constant, call or loop, or the symbol of a built-in variable
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
  bool of_file = false;  // a function of the file
  int function = -1;     // that
  int body = -1;         // its body; -1 if it has none
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
  bool parameter = false;
  bool shared = false;    // in shared memory
  bool array = false;     // its type
  bool integers = false;  // a buffer of these
  bool reals = false;     // a buffer of these
  ThreadType type = ThreadType::kOther;
  int initialiser = -1;
};

// What runs of a kernel's threads share: what the nodes of its code are, and for how long all these runs together may compute.
// All that depends on nothing but the code is decided once, since threads come by many times.
class ThreadCode {
 public:
  // The tree outlives the object.
  explicit ThreadCode(const SyntaxTree& tree);

  const ThreadNode& At(int node) {
    const ThreadNode& known = nodes_[static_cast<std::size_t>(node)];
    return known.decided ? known : Decided(node);
  }
  // By ThreadNode::detail.
  const ThreadConstant& constant(int number) {
    const ThreadConstant& known = constants_[static_cast<std::size_t>(number)];
    return known.resolved ? known : Resolved(number);
  }
  std::size_t constants() const { return constants_.size(); }
  const ThreadCall& call(int number) const { return calls_[static_cast<std::size_t>(number)]; }
  const ThreadLoop& loop(int number) const { return loops_[static_cast<std::size_t>(number)]; }
  // The number of a declaration among those of all variables, for memory that is dense.
  std::size_t SlotOf(int declaration) const { return static_cast<std::size_t>(slots_[static_cast<std::size_t>(declaration)]); }
  const ThreadVariable& variable(int declaration) const { return variables_[SlotOf(declaration)]; }
  std::size_t variables() const { return variables_.size(); }

  // To be called for each expression that a thread computes. False if all runs so far have computed more than a breed worker has
  // time for. It counts expressions and not seconds, so that a child depends on its parents alone.
  bool Affords() { return ++steps_ <= kMostSteps; }
  // How many these were so far, and that those since then do not count, since they are computed once more.
  std::int64_t steps() const { return steps_; }
  void TakeBack(std::int64_t steps) { steps_ = steps; }

 private:
  // Some seconds, which a template whose threads work together may take once (IsKnownElsewhere). Tiled products and convolutions
  // of others take 15 to 35 million, one of them more than 40.
  static constexpr std::int64_t kMostSteps = 100'000'000;

  void AddVariable(int declaration);
  const ThreadNode& Decided(int node);
  void Decide(int node, ThreadNode& decided);
  bool IsPlain(int node, const ThreadNode& decided) const;
  const ThreadConstant& Resolved(int number);
  void DecideExpression(int node, ThreadNode& decided);
  void DecideUnary(int node, ThreadNode& decided);
  void DecideBinary(int node, ThreadNode& decided);
  void DecideSubscript(int node, ThreadNode& decided);
  void DecidePlace(int node, ThreadNode& decided);
  void DecideStatement(int node, ThreadNode& decided);
  int AddConstant(int node);
  int AddCall(int node);
  bool SaysTheSame(int node) const;

  const SyntaxTree& tree_;
  ExpressionKinds kinds_;
  std::vector<ThreadNode> nodes_;
  std::vector<int> slots_;  // by node; -1 for what is no declaration
  std::vector<ThreadVariable> variables_;
  std::deque<ThreadConstant> constants_;
  std::deque<ThreadCall> calls_;
  std::vector<ThreadLoop> loops_;
  std::int64_t steps_ = 0;
};

}  // namespace evo
