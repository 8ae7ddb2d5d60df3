#include "mutators/parallelism/attention/attention_additions.h"

#include <fmt/format.h>

#include <algorithm>

#include "mutators/analysis/source/source_query.h"

namespace evo {
namespace {

int ParameterNamed(const SyntaxTree& tree, int kernel, const std::string& name) {
  const auto& children = tree.node(kernel).children;
  const auto found = std::find_if(children.begin(), children.end(), [&](int child) {
    return tree.node(child).kind_name == "ParmDecl" && tree.node(child).name == name;
  });
  return found == children.end() ? -1 : *found;
}

// What an element of lengths, masks or slopes is the same for: a head's number among those that have one.
std::string PlaneOfHead(const ScoreExtra& extra, const AttentionWords& words, const std::string& head) {
  if (extra.heads.empty()) return "0";
  return fmt::format("({} {} {})", head, extra.inner ? "%" : "/", words.planes);
}

}  // namespace

AttentionAdditions AdditionsOf(const AttentionOfLaunches& chain, const AttentionWords& words) {
  AttentionAdditions added;
  const AttentionOfLaunches::More& more = chain.more;
  if (!more.any) return added;
  added.any = true;
  const bool inner = !chain.inside.empty();
  const std::string outer = fmt::format("(long long)blockIdx.{}", inner ? "z" : "y"), within = inner ? "blockIdx.y" : "0";
  const std::string inside = inner ? words.inside : "1",
                    head = inner ? fmt::format("({} * {} + {})", outer, inside, within) : outer;
  const std::string output_inside = more.output_inside.empty() ? "1" : words.output_inside;
  const std::string key_inside = more.shares ? words.key_inside : inside;
  const std::string shared = more.shares ? fmt::format("({} / {})", outer, words.share) : outer;
  const std::string shared_within = more.shares ? fmt::format("{} / {}", within, words.share_inside) : within;
  const auto rows_of = [&](const std::string& lines, const std::string& outermost, const std::string& between,
                           const std::string& innermost, const std::string& depth) {
    return Attention::Matrix{-1, fmt::format("({} * {} * {} + {}) * {}", outermost, lines, between, innermost, depth),
                             fmt::format("{} * {}", between, depth)};
  };
  added.q = rows_of(words.rows, outer, inside, within, words.depth);
  added.k = rows_of(words.room, shared, key_inside, shared_within, words.depth);
  added.v = rows_of(words.room, shared, key_inside, shared_within, words.value);
  added.o = rows_of(words.rows, fmt::format("({} / {})", head, output_inside), output_inside,
                    fmt::format("{} % {}", head, output_inside), words.value);
  if (!more.value_size.empty()) {
    added.depth_size = fmt::format("max({}, {})", chain.depth_size, more.value_size);
    added.query_width = words.depth, added.value_width = words.value;
  }
  added.keys = words.length;
  if (!more.after.empty()) added.after = words.after;
  added.extra = more.extra.kind;
  if (added.extra == ScoreExtra::Kind::kNone) return added;
  const ScoreExtra& extra = more.extra;
  added.buffer = words.buffer;
  added.shows_zero = extra.shows_zero, added.scaled = extra.scaled, added.negative = extra.negative;
  added.hidden = more.hidden;
  std::string base = PlaneOfHead(extra, words, head);
  if (extra.by_row && base != "0") base += " * " + words.rows;
  if (extra.by_key && base != "0") base += " * " + words.length;
  added.plane.base = base;
  added.plane.row_stride = !extra.by_row ? "0" : extra.by_key ? words.length : "1";
  added.plane.key_stride = extra.by_key ? "1" : "0";
  added.plane.type = more.extra_type;
  return added;
}

Attention WithAdditions(const SyntaxTree& tree, Attention found, const AttentionAdditions& added) {
  using enum ScoreExtra::Kind;
  if (!added.any) return found;
  for (const auto& [matrix, other] : {std::pair(&found.q, &added.q), std::pair(&found.k, &added.k), std::pair(&found.v, &added.v),
                                      std::pair(&found.o, &added.o)})
    matrix->base = other->base, matrix->stride = other->stride;
  if (!added.depth_size.empty()) found.depth_size = added.depth_size;
  found.query_width = added.query_width, found.value_width = added.value_width;
  found.after = added.after, found.keys = added.keys;
  if (added.extra == kNone) return found;
  const int parameter = ParameterNamed(tree, found.kernel, added.buffer);
  Attention::Plane plane = added.plane;
  plane.parameter = parameter;
  const std::string factor = added.scaled ? found.scale : "1.0f";
  if (added.extra == kLengths) {
    const std::string length = fmt::format("int({}[{}])", added.buffer, plane.base);
    if (added.hidden.empty())
      found.keys = fmt::format("min({}, {})", length, found.keys);
    else
      found.mask.length = length, found.mask.hidden = added.hidden;
  } else if (added.extra == kMask) {
    found.mask = {plane, added.shows_zero, added.hidden, ""};
  } else {
    found.term = {added.extra == kBias ? ScoreTerm::Kind::kElement : ScoreTerm::Kind::kDistance, plane,
                  added.negative ? fmt::format("-({})", factor) : factor};
  }
  return found;
}

}  // namespace evo
