#pragma once

#include <string>

#include "mutators/analysis/numbers/refusal.h"
#include "mutators/analysis/thread_runs/thread_arithmetic.h"
#include "mutators/analysis/thread_runs/thread_code.h"
#include "mutators/analysis/thread_runs/thread_memory.h"
#include "mutators/analysis/thread_runs/thread_trace.h"

namespace evo {

// What expressions do with vectors, which are several neighbouring elements, and with pointers to them.
class ThreadVectors {
 public:
  // The arguments outlive the object.
  ThreadVectors(const SyntaxTree& tree, const ThreadCode& code, const ThreadSetting& setting, ThreadArithmetic& arithmetic,
                ThreadMemory& memory, Refusal& refusal)
      : tree_(tree), code_(code), setting_(setting), arithmetic_(arithmetic), memory_(memory), refusal_(refusal) {}

  // What is at a place, of the node's type: several elements for a vector.
  ThreadValue LoadAt(const ThreadPlace& place, const ThreadNode& node);
  // Whether it is a float there whose bits the node takes for an integer.
  bool IsOfBits(const ThreadPlace& place, const ThreadNode& node) const;
  // Whether a vector has as many elements as what it is stored to.
  bool FitsAt(const ThreadPlace& place, const ThreadNode& node, const ThreadValue& vector);
  // How many elements of what it points into a pointer moves, by the type of a node that points to vectors.
  ThreadValue Scaled(const ThreadNode& node, const ThreadValue& pointer, ThreadValue by);
  // Whether a value may be taken for the type of a cast.
  bool MayBeCast(const ThreadNode& node, const ThreadValue& value) const;
  // `v.x`, where `of` is the node of v; of no kind if it is not understood.
  ThreadValue PartOf(const ThreadNode& node, const ThreadNode& of, const ThreadValue& vector, int expression) const;
  // Where it is stored, if v is there; no place if it is not understood.
  ThreadPlace PlaceOfPart(const ThreadNode& node, ThreadPlace place) const;

 private:
  ThreadValue Refuse(std::string why);
  ThreadValue SomePart(const ThreadNode& node, const ThreadValue& vector) const;
  ThreadValue ConstantField(const ThreadNode& node, const ThreadValue& constant, int expression) const;

  const SyntaxTree& tree_;
  const ThreadCode& code_;
  const ThreadSetting& setting_;
  ThreadArithmetic& arithmetic_;
  ThreadMemory& memory_;
  Refusal& refusal_;
};

}  // namespace evo
