#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "mutators/analysis/source/affine_index.h"
#include "mutators/analysis/thread_runs/block_memory.h"
#include "mutators/analysis/thread_runs/thread_value.h"

namespace evo {

// Where the threads of a block wait for each other. False if the others do not come.
class ThreadMeeting {
 public:
  ThreadMeeting() = default;
  ThreadMeeting(const ThreadMeeting&) = delete;  // threads refer to it
  ThreadMeeting& operator=(const ThreadMeeting&) = delete;
  virtual ~ThreadMeeting() = default;
  virtual bool MeetBlock(std::size_t thread) = 0;
  virtual bool MeetWarp(std::size_t thread, std::uint32_t mask) = 0;
};

// What the threads of a block tell each other (thread_block.h).
struct ThreadExchange {
  ThreadMeeting* meeting = nullptr;
  BlockMemory shared;
  std::vector<StoredValues> stored;             // by thread, since threads last met
  std::vector<std::vector<ThreadValue>> given;  // by thread, in each of its shuffles
  int race = -1;                                // ThreadTrace::race
};

// Elements of a buffer of real numbers, by index.
using BufferContents = std::map<std::int64_t, double>;

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
  bool stops = false;                                      // whether it ends behind the watched statement
  // Whether ThreadTrace::touches is kept. Then only addresses count: elements of tables of real numbers, and what functions that
  // are not known make of real numbers, are some number, and a buffer may be both read and stored to.
  bool addresses = false;
  std::vector<int> counters;  // the variables of which touches tell
  // Statements that change more than elements (StencilEffects): of these only what they read counts.
  std::set<int> effects;
  // `if` statements that decide nothing but real numbers (ChoicesOfReals): what they compare does not count as deciding.
  std::set<int> choices;
  std::optional<double> element;  // what all elements are, with `addresses`
  int followed = -1;              // a variable of which ThreadTrace::history tells
  bool sums = false;              // whether real numbers tell of what they are the sum
  bool words = false;             // whether buffers of integers are elements to compute with, and not numbers that decide
  // Whether numbers that are computed of elements have formulas. Their values do not count: an element decides nothing.
  bool formulas = false;
  bool consumed = false;           // whether only what is computed with counts as read, and not what is copied
  bool thread_symbols = true;      // whether threadIdx and blockDim are symbols of forms, not constants
  std::set<int> scratch;           // parameters that point to scratch memory of the kernel alone
  std::int64_t loaded = 5;         // the elements of buffers of integers
  std::map<int, double> elements;  // of these parameters, all elements are this number
  // Of these parameters, these elements are these numbers, also of integers.
  std::map<int, std::shared_ptr<const BufferContents>> chosen;
  std::set<int> integer_bytes;  // parameters whose bytes are integers that decide, and not elements to compute with
  // What these parameters point to at first: scratch memory that others have written, of which ThreadTrace tells, too. Only what
  // is there, in `elements` or in `drawn` may be read.
  std::map<int, const BufferContents*> contents;
  // Of these, those that atomic operations change at once, so that threads that run later see it.
  std::map<int, BufferContents*> updated;
  // Of these parameters, elements are drawn as those of this buffer, and times a number: so that two parameters may be one
  // buffer.
  struct Drawn {
    int buffer = -1;
    double times = 1;
  };
  std::map<int, Drawn> drawn;
  std::map<int, int> same;  // parameters that point to what another one points to
  // A row of the thread that is `outer * length + row`: the symbol of the row, that of `outer`, and the length's form.
  int flat_row = 0, flat_outer = 0;
  FormPointer flat_length;
  ThreadExchange* exchange = nullptr;  // null: a thread that waits for others is refused
  std::size_t thread = 0;              // its number in the block
};

// What a thread did.
struct ThreadTrace {
  struct Access {
    double value = 0;
    AffineForm index;  // if the setting is symbolic
    SumPointer sum;    // of what is stored, and its inner one
    SumPointer inner;
    FormulaPointer formula;   // likewise
    bool whole = false;       // ThreadValue::whole
    std::int64_t moment = 0;  // of a store to memory of the block: which of two threads was later
  };
  // An element of a buffer of integers.
  struct Loaded {
    std::int64_t value = 0;
    AffineForm index;  // if the setting is symbolic, as is the element's own symbol
    int symbol = -1;
  };
  // An access to a buffer.
  struct Touch {
    int node = -1;  // the expression that names the element, or the call that loads it
    // Of what is read in shared memory, the element that was copied there; -1 for what is none.
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
    std::size_t history = 0;                         // numbers of it so far
    std::set<int> deciding;                          // as below, so far
    bool rounded = false, reals_compared = false;    // likewise
  };
  std::string refusal;                                   // why it is not understood; then nothing else counts
  std::vector<double> history;                           // the numbers that the followed variable was assigned
  Moment before, after;                                  // the watched statement, the last time that it was run
  std::map<int, std::map<std::int64_t, Access>> reads;   // by parameter and element
  std::map<int, std::map<std::int64_t, Access>> stores;  // the last of each element
  // Of a row of an attention: one element each of other buffers than its own, and what those were that it had read.
  std::map<int, std::map<std::int64_t, Access>> beside;
  std::map<int, double> beside_starts;
  std::map<int, std::map<std::int64_t, Loaded>> loaded;  // of buffers of integers, by parameter and element
  std::map<int, std::set<std::int64_t>> updates;         // elements of buffers that atomic operations changed
  std::vector<Touch> touches;                            // in the order in which they were made
  // Integers that were compared and are the same for all threads of a block, by their texts.
  std::map<std::string, std::pair<std::int64_t, AffineForm>> compared;
  std::set<int> deciding;                         // symbols of all that was compared
  std::set<std::string> names;                    // macros and constants whose integers it used
  std::map<std::string, double> factors;          // what data was multiplied by, by their texts
  std::vector<std::pair<double, double>> limits;  // data that was compared with what is no data, and that
  std::int64_t largest_number = 0;                // of the integers that the code spells, and that are added to what it compares
  std::int64_t widest = 1;                        // of the elements that it accesses at once
  std::int64_t turns = 0;                         // of all loops
  std::int64_t misaligned = 0;                    // of those that do not begin at a multiple of their number, which is refused
  bool base_two = false;                          // whether it used exp2f
  bool exponential = false;                       // or any function of its kind
  bool reals_compared = false;                    // whether it compared real numbers, or took the larger of two
  int effects = 0;                                // how often it came to one of the setting's effects
  int race = -1;         // memory of the block in which one thread stores what another accesses, and no barrier is between them
  bool rounded = false;  // whether it made an element of half or bfloat16 of what it had computed
};

// Whether a comparison of data with a number (ThreadTrace::limits) holds for all scores of an attention and all sums of its
// weights: with what every score passes, and with the least that weights sum up to.
inline bool IsLimitVoid(const std::pair<double, double>& limit) {
  const auto [data, number] = limit;
  return number <= -1e4 || (std::abs(number) <= 1e-6 && data >= 0.999);
}

}  // namespace evo
