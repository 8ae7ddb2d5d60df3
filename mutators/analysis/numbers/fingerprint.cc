#include "mutators/analysis/numbers/fingerprint.h"

namespace evo {
namespace {

// The finaliser of splitmix64.
std::uint64_t Finalised(std::uint64_t bits) {
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
  return bits ^ (bits >> 31);
}

}  // namespace

std::uint64_t FingerprintOf(std::int64_t element) { return Finalised(static_cast<std::uint64_t>(element) + 0x9e3779b97f4a7c15u); }

double RandomElement(int buffer, std::int64_t index) {
  const std::uint64_t bits = Finalised(static_cast<std::uint64_t>(index) * 0x9e3779b97f4a7c15u +
                                       static_cast<std::uint64_t>(buffer) * 0xd1b54a32d192ed03u);
  return static_cast<double>(bits >> 11) / 4503599627370496.0 - 1.0;
}

}  // namespace evo
