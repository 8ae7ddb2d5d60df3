#include "mutators/parallelism/products/tile_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "mutators/analysis/source/constant_value.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/source_query.h"

namespace evo {
namespace {

// Elements between the rows of a tile in shared memory: threads that store one column of it meet different banks, and rows still
// begin at multiples of 16 bytes.
int Padding(const std::string& type) { return 16 / SizeOf(type); }

std::string Zero(const std::string& type) { return type == "float" ? "0.0f" : type == "double" ? "0.0" : "0"; }

}  // namespace

TileWriter::TileWriter(const MutationContext& context, const Contraction& contraction, TileParameters parameters)
    : ContractionText(context, contraction),
      tree_(context.tree),
      found_(contraction),
      names_(std::move(parameters)),
      m_{found_.a, found_.m,         WithoutConst(tree_.node(found_.a.expression).type), names_.tile_m, names_.thread_m,
         "m",      Counter("i", "u")},
      n_{found_.b, found_.n,         WithoutConst(tree_.node(found_.b.expression).type), names_.tile_n, names_.thread_n,
         "n",      Counter("j", "v")} {}

std::string TileWriter::SharedBytes() const {
  const auto bytes = [&](const Side& side) {
    return fmt::format("({} + {}) * {}", side.size, Padding(side.type), SizeOf(side.type));
  };
  return fmt::format("{} * ({} + {})", names_.tile_k, bytes(m_), bytes(n_));
}

std::string TileWriter::Constants() const {
  std::string text =
      fmt::format("  // A thread computes {} x {} elements, in groups of up to 4 that lie side by side.\n", m_.thread, n_.thread);
  text += fmt::format("  constexpr int {} = {} / {}, {} = {} / {} * {};\n", Fresh("kThreadsN"), n_.size, n_.thread,
                      Fresh("kThreads"), m_.size, m_.thread, Fresh("kThreadsN"));
  for (const Side& side : {m_, n_}) {
    const std::string letter = side.letter == "m" ? "M" : "N";
    text += fmt::format("  constexpr int {0} = {1} < 4 ? {1} : 4, {2} = {3} / {1} * {0};\n", Fresh("kGroup" + letter),
                        side.thread, Fresh("kStride" + letter), side.size);
  }
  for (const Side& side : {m_, n_}) {
    text += fmt::format("  __shared__ __align__(16) {} {}[{}][{} + {}];\n", side.type, Fresh("tile_" + side.letter),
                        names_.tile_k, side.size, Padding(side.type));
  }
  text += fmt::format("  const int {} = threadIdx.x / {} * {};\n", Fresh("own_m"), Fresh("kThreadsN"), Fresh("kGroupM"));
  text += fmt::format("  const int {} = threadIdx.x % {} * {};\n", Fresh("own_n"), Fresh("kThreadsN"), Fresh("kGroupN"));
  return text + First(m_.index, m_.letter, m_.size) + First(n_.index, n_.letter, n_.size);
}

// Where a thread's element lies in the tile.
std::string TileWriter::Offset(const Side& side) const {
  const std::string letter = side.letter == "m" ? "M" : "N";
  return fmt::format("{} + {} / {} * {} + {} % {}", Fresh("own_" + side.letter), side.counter, Fresh("kGroup" + letter),
                     Fresh("kStride" + letter), side.counter, Fresh("kGroup" + letter));
}

// The loop that brings a side's part of a tile. Neighbouring threads load neighbouring elements.
std::string TileWriter::Staged(const Side& side) const {
  const std::string t = Fresh("t");
  const bool by_k = side.factor.inner == ContractionFactor::Inner::kReduced;
  const std::string& fast = by_k ? names_.tile_k : side.size;
  const std::string slow_index = fmt::format("{} / {}", t, fast), fast_index = fmt::format("{} % {}", t, fast);
  const std::string& of_k = by_k ? fast_index : slow_index;
  const std::string& of_output = by_k ? slow_index : fast_index;
  std::string text = fmt::format("#pragma unroll 4\n    for (int {0} = 0; {0} < {1} * {2} / {3}; ++{0}) {{\n", Fresh("round"),
                                 side.size, names_.tile_k, Fresh("kThreads"));
  text += fmt::format("      const int {} = {} * {} + threadIdx.x;\n", t, Fresh("round"), Fresh("kThreads"));
  text += fmt::format("      {} = {} + {};\n", Typed(side.index.declaration), Fresh("first_" + side.letter), of_output);
  text += fmt::format("      {} = {} + {};\n", Typed(found_.k.counter), Fresh("first_k"), of_k);
  // `a` for a variable `const float a = A[..];` of the loop is what it stands for.
  int factor = side.factor.expression;
  const int variable = NamedDeclaration(tree_, factor);
  if (variable >= 0 && tree_.node(variable).kind_name == "VarDecl") factor = tree_.node(variable).children.back();
  std::string value(tree_.Text(factor));
  if (WithoutConst(tree_.node(factor).type) != side.type) value = fmt::format("static_cast<{}>({})", side.type, value);
  const std::string inside =
      fmt::format("{} < {} && {} < {}", tree_.node(side.index.declaration).name, tree_.Text(side.index.bound),
                  tree_.node(found_.k.counter).name, tree_.Text(found_.k.bound));
  const std::string element = fmt::format("{}[{}][{}]", Fresh("tile_" + side.letter), of_k, of_output);
  const std::vector<int> needed = Needed({factor});
  const bool loads = std::any_of(needed.begin(), needed.end(), [&](int one) { return LoadsElements(tree_, one); });
  if (!loads) {
    text += Statements(needed, "      ", {});
    text += fmt::format("      {} = {} ? {} : {};\n", element, inside, value, Zero(side.type));
  } else {
    text += fmt::format("      {} = {};\n      if ({}) {{\n", element, Zero(side.type), inside);
    text += Statements(needed, "        ", {});
    text += fmt::format("        {} = {};\n      }}\n", element, value);
  }
  return text + "    }\n";
}

// The loop that brings a thread's elements of a tile into registers.
std::string TileWriter::Part(const Side& side) const {
  return fmt::format("#pragma unroll\n      for (int {0} = 0; {0} < {1}; ++{0}) {2}[{0}] = {3}[{4}][{5}];\n", side.counter,
                     side.thread, Fresh("part_" + side.letter), Fresh("tile_" + side.letter), Fresh("step"), Offset(side));
}

// An update, or a part of it, with the parts of the tiles as the factors. Variables that depend on both factors are written out.
std::string TileWriter::Combined(int node) const {
  const std::string sum = fmt::format("{}[{}][{}]", tree_.node(found_.accumulator).name, m_.counter, n_.counter);
  Replacements parts = UsesAs(tree_, found_.accumulator, node, sum);
  for (const Side& side : {m_, n_}) {
    std::vector<int> uses = side.factor.repeated;
    uses.push_back(side.factor.expression);
    for (const int use : uses) {
      if (IsWithin(tree_, use, node)) parts.emplace_back(use, fmt::format("{}[{}]", Fresh("part_" + side.letter), side.counter));
    }
  }
  for (const int variable : found_.combined) {
    if (!NamedIn(tree_, node).contains(variable)) continue;
    const int value = tree_.node(variable).children.back();
    const std::string type = WithoutConst(tree_.node(variable).type);
    const bool same = WithoutConst(tree_.node(value).type) == type;
    const Replacements uses =
        UsesAs(tree_, variable, node, fmt::format("{}({})", same ? "" : fmt::format("static_cast<{}>", type), Combined(value)));
    parts.insert(parts.end(), uses.begin(), uses.end());
  }
  return TextWith(tree_, node, parts);
}

std::string TileWriter::Products() const {
  const std::string step = Fresh("step");
  std::string text = fmt::format("#pragma unroll 8\n    for (int {0} = 0; {0} < {1}; ++{0}) {{\n", step, names_.tile_k);
  for (const Side& side : {m_, n_})
    text += fmt::format("      {} {}[{}];\n", side.type, Fresh("part_" + side.letter), side.thread);
  text += Part(m_) + Part(n_);
  text += fmt::format("#pragma unroll\n      for (int {0} = 0; {0} < {1}; ++{0}) {{\n", m_.counter, m_.thread);
  text += fmt::format("#pragma unroll\n        for (int {0} = 0; {0} < {1}; ++{0}) {2}\n", n_.counter, n_.thread,
                      Combined(found_.update));
  return text + "      }\n    }\n";
}

// The beginning of loops over a thread's elements, with their indices.
std::string TileWriter::EachElement() const {
  const auto name = [&](int declaration) { return tree_.node(declaration).name; };
  std::string text = fmt::format("#pragma unroll\n  for (int {0} = 0; {0} < {1}; ++{0}) {{\n", m_.counter, m_.thread);
  text += fmt::format("#pragma unroll\n    for (int {0} = 0; {0} < {1}; ++{0}) {{\n", n_.counter, n_.thread);
  for (const Side& side : {m_, n_})
    text += fmt::format("      {} = {} + {};\n", Typed(side.index.declaration), Fresh("first_" + side.letter), Offset(side));
  text += fmt::format("      if ({} >= {} || {} >= {}) continue;\n", name(m_.index.declaration), tree_.Text(m_.index.bound),
                      name(n_.index.declaration), tree_.Text(n_.index.bound));
  return text;
}

// What follows the sum, for each of a thread's elements.
std::string TileWriter::Stores() const {
  const std::string sum = fmt::format("{}[{}][{}]", tree_.node(found_.accumulator).name, m_.counter, n_.counter);
  return EachElement() + Epilogue(sum, "      ", true) + "    }\n  }\n";
}

std::string TileWriter::Body() const {
  const SyntaxNode& sum = tree_.node(found_.accumulator);
  const SyntaxNode& k = tree_.node(found_.k.counter);
  std::string text = "{\n" + Constants() + Common("  ");
  text += fmt::format("  {} {}[{}][{}] = {{}};\n", sum.type, sum.name, m_.thread, n_.thread);
  if (found_.start >= 0) {
    text += EachElement();
    text += Started(fmt::format("{}[{}][{}]", sum.name, m_.counter, n_.counter), "      ") + "    }\n  }\n";
  }
  text += fmt::format("  for ({0} {1} = 0; {1} < {2}; {1} += {3}) {{\n", k.type, Fresh("first_k"), tree_.Text(found_.k.bound),
                      names_.tile_k);
  text += Staged(m_) + Staged(n_) + "    __syncthreads();\n" + Products() + "    __syncthreads();\n  }\n";
  return Finished(text + Stores() + "}");
}

}  // namespace evo
