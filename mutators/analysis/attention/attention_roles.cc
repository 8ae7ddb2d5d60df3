#include "mutators/analysis/attention/attention_roles.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>
#include <vector>

namespace evo {
namespace {

// Less than every size.
constexpr std::int64_t kRowOfRoles = 1;

// A buffer of integers of which a row reads several elements: as many as it has keys.
int MaskIn(const ThreadTrace& trace) {
  for (const auto& [buffer, elements] : trace.loaded) {
    if (elements.size() > 1) return buffer;
  }
  return -1;
}

std::string WhyNoRoles(const ThreadTrace& trace) {
  for (const auto& [data, number] : trace.limits) {
    if (number > -1e4 && (std::abs(number) > 1e-6 || data < 0.999))
      return fmt::format("it compares a score or a weight with {}", number);
  }
  return "what it stores is not softmax(scale * query * key) * value over the keys";
}

}  // namespace

bool AttentionRoleFinder::Refuse(std::string why) {
  why_ = std::move(why);
  return false;
}

// Whether the trace is a row of an attention, of matrices with buffers of their own or in one buffer.
bool AttentionRoleFinder::RolesOf(const ThreadTrace& trace, int mask, bool shows_zero, AttentionRoles& roles) {
  if (!trace.refusal.empty()) return false;
  std::vector<AttentionPacking> packings = PackingsOf(trace);
  packings.insert(packings.begin(), AttentionPacking{});
  for (const auto find : {RolesIn, RolesWithTerm}) {
    for (const AttentionPacking& packing : packings) {
      ThreadTrace parts = trace;
      SplitParts(packing, kRowOfRoles, parts);
      const auto these = find(parts, kRowOfRoles, mask, shows_zero);
      if (!these) continue;
      roles = *these;
      runs_.Split(packing);
      if (roles.term.kind != ScoreTerm::Kind::kNone) runs_.KeepForms();
      return true;
    }
  }
  return false;
}

bool AttentionRoleFinder::Find(AttentionRoles& roles) {
  const ThreadTrace first = runs_.Run(0, kRowOfRoles);
  if (!first.refusal.empty()) return Refuse(first.refusal);
  if (first.stores.empty()) return Refuse("no row stores anything in a launch with sizes of 5 to 12");
  const std::string buffers = fmt::format("it reads {} buffers, and attention reads three", first.reads.size());
  const int mask = MaskIn(first);
  if (!first.exponential && mask < 0) return Refuse(first.reads.size() == 3 ? "it computes no exponential" : buffers);
  if (mask < 0 && RolesOf(first, -1, false, roles)) return true;
  for (const bool shows_zero : {false, true}) {
    if (mask < 0) break;
    runs_.Fill(mask, shows_zero ? 0 : 1);
    if (RolesOf(runs_.Run(0, kRowOfRoles), mask, shows_zero, roles)) return true;
  }
  return Refuse(first.reads.size() == 3 ? WhyNoRoles(first) : buffers);
}

}  // namespace evo
