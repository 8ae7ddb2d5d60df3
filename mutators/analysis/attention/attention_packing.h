#pragma once

#include <cstdint>
#include <vector>

#include "mutators/analysis/thread_runs/thread_trace.h"

namespace evo {

// How one buffer holds queries, keys and values, or keys and values. In traces each part then counts as a buffer of its own.
struct AttentionPacking {
  int buffer = -1;         // a parameter; -1 if each matrix has a buffer of its own
  std::int64_t depth = 0;  // of a row
  bool by_token = false;   // whether the parts of a token stand together; else all rows of a part do
  int query = -1;          // the place of the queries among the parts; -1 if they have a buffer of their own
};

// The parameter that a part stands in for, which is the parameter itself for other buffers.
int BufferOfPart(int part);

// The ways in which a thread's reads may be those of parts of one buffer.
std::vector<AttentionPacking> PackingsOf(const ThreadTrace& trace);

// Makes buffers of the parts that a thread of this row has read, in the order in which they stand in memory. Leaves the trace as
// it is if the reads are no such parts.
void SplitParts(const AttentionPacking& packing, std::int64_t row, ThreadTrace& trace);

}  // namespace evo
