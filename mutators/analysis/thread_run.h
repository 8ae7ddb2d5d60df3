#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "mutators/analysis/affine_index.h"
#include "mutators/mutator.h"

namespace evo {

// A number or an address that a thread computes.
struct ThreadValue {
  enum class Kind : std::uint8_t { kNone, kInteger, kReal, kPointer };
  Kind kind = Kind::kNone;
  std::int64_t integer = 0;  // of a pointer, the offset in elements
  double real = 0;
  int memory = -1;  // what a pointer points into: the declaration of a kernel's parameter or of a local array
  // What `integer` is computed from; null for constants, among which are the counters of loops.
  std::shared_ptr<const AffineForm> form;
  // A real number as an expression that has the same value in all threads; null if it depends on data or on the thread.
  std::shared_ptr<const std::string> text;
  bool element = false;  // a real number that is an element of a buffer, as it is there
};

// The numbers with which a thread runs.
struct ThreadSetting {
  std::map<int, std::int64_t> integers;                    // parameters by declaration
  std::map<int, double> reals;                             // likewise
  std::map<int, std::int64_t> builtins;                    // by BuiltinSymbol
  std::map<std::string, std::int64_t, std::less<>> sizes;  // macros of evo:size
  std::int64_t row = 0;                                    // the value of the variable that is the thread's row
  bool symbolic = true;                                    // whether forms are kept, which takes most of the time
  int watched = -1;                                        // a statement of which ThreadTrace::before and after tell
  std::set<int> noted;                                     // the variables of which they do
  // Whether ThreadTrace::touches is kept. Then only addresses count: elements of tables of real numbers, and what functions that
  // are not known make of real numbers, are some number, and a buffer may be both read and stored to.
  bool addresses = false;
  std::vector<int> counters;  // the variables of which touches tell
};

// What a thread did.
struct ThreadTrace {
  struct Access {
    double value = 0;
    AffineForm index;  // if the setting is symbolic
  };
  struct Uniform {
    double value = 0;
    std::string text;
  };
  // An access to a buffer.
  struct Touch {
    int node = -1;  // the expression that names the element, or the call that loads it
    int memory = -1;
    std::int64_t index = 0;
    bool store = false;
    std::vector<std::int64_t> counters;  // the setting's; 0 for those without a value
  };
  // What there was at some moment.
  struct Moment {
    int times = 0;                                   // that the watched statement was run
    std::map<int, ThreadValue> values;               // of the noted variables that have one
    std::map<int, std::vector<std::int64_t>> reads;  // elements so far, by parameter
    std::set<int> deciding;                          // as below, so far
    bool rounded = false, reals_compared = false;    // likewise
  };
  std::string refusal;                                   // why it is not understood; then nothing else counts
  Moment before, after;                                  // the watched statement, the last time that it was run
  std::map<int, std::map<std::int64_t, Access>> reads;   // by parameter and element
  std::map<int, std::map<std::int64_t, Access>> stores;  // the last of each element
  std::vector<Touch> touches;                            // in the order in which they were made
  // Integers that were compared and are the same for all threads of a block, by their texts.
  std::map<std::string, std::pair<std::int64_t, AffineForm>> compared;
  std::set<int> deciding;                         // symbols of all that was compared
  std::set<std::string> names;                    // macros and constants whose integers it used
  std::map<std::string, double> factors;          // what data was multiplied by, by their texts
  std::vector<std::pair<double, double>> limits;  // data that was compared with what is no data, and that
  std::int64_t largest_number = 0;                // of the integers that the code spells, and that are added to what it compares
  bool base_two = false;                          // whether it used exp2f
  bool exponential = false;                       // or any function of its kind
  bool reals_compared = false;                    // whether it compared real numbers, or took the larger of two
  bool rounded = false;                           // whether it made an element of half or bfloat16 of what it had computed
};

// Runs one thread of a kernel on numbers: integers as they are, elements of buffers as random numbers that their place decides,
// real arithmetic without rounding. Beside their values it follows how integers are computed, so that indices can be written for
// other rows. A thread that waits for others, or does what a table of known functions lacks, is refused.
class ThreadRun {
 public:
  // The variable `row` has the setting's value; -1 for none. The context must outlive the object.
  ThreadRun(const MutationContext& context, int kernel, int row);
  ThreadTrace Run(const ThreadSetting& setting);

  // An index as an expression of the kernel's parameters, of built-in variables and of variables for which Settled() is true.
  // With `wide`, products are of 64 bits.
  std::string TextOf(const AffineForm& form, bool wide = false) const;
  // Whether a symbol is the row, or computed from it or from a thread's number.
  bool OfThread(int symbol) const;
  // Variables of the kernel that are the same for all threads of a block and never change: symbols of forms.
  const std::set<int>& settled() const { return settled_; }
  // The element that the run reads in a buffer.
  static double ElementOf(int buffer, std::int64_t index);

 private:
  enum class Flow : std::uint8_t { kOn, kBreak, kContinue, kReturn };
  enum class Kind : std::uint8_t {
    kName,
    kInteger,
    kReal,
    kBool,
    kParentheses,
    kUnary,
    kBinary,
    kConditional,
    kCast,
    kMember,
    kSubscript,
    kCall,
    kOther
  };
  static constexpr int kFirstOpaque = 1 << 24;  // symbols of what is no polynomial
  static constexpr double kSomeNumber = 0.37;
  struct Place {
    int variable = -1;  // or
    int memory = -1;    // an element of a local array or of a buffer
    std::int64_t index = 0;
    std::shared_ptr<const AffineForm> form;
  };
  struct Opaque {
    std::string text;
    bool of_thread = false;
    std::set<int> symbols;  // none is opaque
  };
  using Form = std::shared_ptr<const AffineForm>;

  // Statements (thread_run.cc).
  void FindSettled();
  bool CanSettle(int variable) const;
  Flow Execute(int statement);
  Flow ExecuteStatement(int statement);
  void Note(ThreadTrace::Moment& moment) const;
  Flow ExecuteLoop(int init, int condition, int increment, int body, bool body_first);
  void Declare(int variable);
  void DeclareArray(int variable);
  void Fill(int variable, int list);

  // Expressions (thread_values.cc, thread_calls.cc).
  static Kind KindOf(std::string_view name);
  ThreadValue Evaluate(int expression);
  ThreadValue Literal(int expression);
  ThreadValue Named(int expression);
  ThreadValue Builtin(int expression);
  ThreadValue Unary(int expression);
  ThreadValue Binary(int expression);
  ThreadValue Combined(std::string_view spelled, const ThreadValue& left, const ThreadValue& right);
  ThreadValue CombinedIntegers(std::string_view spelled, const ThreadValue& left, const ThreadValue& right);
  ThreadValue CombinedReals(std::string_view spelled, const ThreadValue& left, const ThreadValue& right);
  ThreadValue Moved(const ThreadValue& pointer, const ThreadValue& by, int sign);
  ThreadValue Assign(int expression);
  ThreadValue Call(int expression);
  ThreadValue CallDefined(int function, const std::vector<int>& arguments);
  ThreadValue CallKnown(std::string_view callee, const std::vector<int>& arguments, int call);
  ThreadValue Extreme(bool largest, const ThreadValue& a, const ThreadValue& b);
  Place PlaceOf(int expression);
  ThreadValue Load(const Place& place, int node);
  void Store(const Place& place, ThreadValue value, int node);
  void Touch(const Place& place, int node, bool store);
  bool IsTable(int expression) const;
  ThreadValue Converted(ThreadValue value, std::string_view type);
  bool IsTrue(int expression);
  void NoteLimit(const ThreadValue& a, const ThreadValue& b);
  void NoteCompared(const ThreadValue& value);
  Form FormOf(const ThreadValue& value) const;
  Form NewOpaque(std::string text, const ThreadValue& left, const ThreadValue& right);
  bool IsUniform(const AffineForm& form) const;
  std::set<int> PlainSymbols(const AffineForm& form) const;

  static ThreadValue Integer(std::int64_t value, Form form = nullptr);
  static ThreadValue Real(double value, std::shared_ptr<const std::string> text = nullptr);
  ThreadValue Refuse(std::string why);
  std::string Quoted(int node) const;
  bool Failed() const { return !trace_.refusal.empty(); }

  const MutationContext& context_;
  const SyntaxTree& tree_;
  int kernel_;
  int row_;
  std::set<int> written_;
  std::set<int> settled_;
  std::vector<Opaque> opaque_;
  std::map<std::string, int, std::less<>> opaque_numbers_;
  std::vector<Kind> kinds_;                  // of each node
  std::vector<std::string_view> operators_;  // likewise
  ThreadSetting setting_;
  ThreadTrace trace_;
  std::vector<ThreadValue> variables_;              // by declaration
  std::map<int, std::vector<ThreadValue>> arrays_;  // by declaration
  ThreadValue returned_;
  int depth_ = 0;           // of calls
  std::int64_t steps_ = 0;  // expressions so far
};

}  // namespace evo
