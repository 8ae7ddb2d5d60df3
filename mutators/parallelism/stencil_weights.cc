// Weights that the threads of a stencil read once.
#include <fmt/format.h>

#include "mutators/parallelism/stencil_writer.h"

namespace evo {
// The weights, read before the loop if any element of the grid reads them.
std::string StencilWriter::Tables() const {
  std::string text;
  for (const Stencil::Table& table : tables_) {
    std::string condition;
    for (std::size_t axis = 0; axis < found_.dimensions; ++axis) {
      const Stencil::Range &reads = table.readers[axis], &all = found_.stores[axis];
      if (reads.low == all.low && reads.end.kernel == all.end.kernel) continue;
      condition += fmt::format("{}{} > {}", condition.empty() ? "" : " && ", Plain(reads.end.kernel), reads.low);
    }
    const std::string name = Weights(table.buffer), i = Counter("i");
    const std::string load = fmt::format("#pragma unroll\n{0}for (int {1} = 0; {1} < {2}; ++{1}) {3}[{1}] = {4}[{1}{5}];\n",
                                         condition.empty() ? "" : "  ", i, table.count, name, tree_.node(table.buffer).name,
                                         table.low == 0 ? "" : fmt::format(" + {}", table.low));
    if (!condition.empty()) text += "// Only where some element reads it may it be read.\n";
    text += fmt::format("{} {}[{}] = {{}};\n", TypeOf(table.buffer), name, table.count);
    text += condition.empty() ? load : fmt::format("if ({}) {{\n{}}}\n", condition, load);
  }
  return text;
}

}  // namespace evo
