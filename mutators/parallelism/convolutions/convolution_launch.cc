#include "mutators/parallelism/convolutions/convolution_launch.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "kernel_templates/brought_parameters.h"
#include "mutators/analysis/source/source_query.h"

namespace evo {

std::string NameOfImages(const SyntaxTree& tree, const Convolution& found) {
  return found.images.kernel.empty() ? UnusedName(tree.text(), "images") : found.images.kernel;
}

std::string NameOfFilters(const SyntaxTree& tree, const Convolution& found) {
  return found.filters.kernel.empty() ? UnusedName(tree.text(), "filter_count") : found.filters.kernel;
}

Proposal ConvolutionChanges(const SyntaxTree& tree, const Convolution& found, const ConvolutionWriter& writer) {
  Proposal proposal;
  if (const std::string blocks = writer.Blocks(); !blocks.empty()) {
    proposal.changes.push_back({found.kernel, Placement::kBefore, blocks});
    proposal.changes.push_back({found.kernel, Placement::kBefore, "#include <cuda_pipeline.h>\n"});
  }
  std::string body = writer.Body();
  for (const std::string& odd : found.odd)
    body.insert(body.find('{') + 1,
                fmt::format("\n  // Of an even number of taps there is no middle.\n  if ({} % 2 == 0) __trap();", odd));
  proposal.changes.push_back({tree.node(found.kernel).children.back(), Placement::kReplace, body});
  const std::string& launched = found.launch->kernel;
  std::string parameters, arguments;
  for (const auto& [number, name] :
       {std::pair(&found.images, NameOfImages(tree, found)), std::pair(&found.filters, NameOfFilters(tree, found))}) {
    // Blocks of one channel know their image by their number.
    if (!number->kernel.empty() || (found.depthwise && number == &found.images)) continue;
    parameters += fmt::format(", int {}", name);
    arguments += fmt::format(", {}", number->launch);
  }
  if (!parameters.empty()) {
    proposal.changes.push_back({LastParameter(tree, found.kernel), Placement::kAfter, parameters});
    proposal.launch.push_back({launched, "arguments", fmt::format("{}{}", fmt::join(found.launch->arguments, ", "), arguments)});
  }
  proposal.launch.push_back({launched, "grid", writer.Grid()});
  proposal.launch.push_back({launched, "block", writer.Threads()});
  proposal.parameters = found.parameters;
  return proposal;
}

}  // namespace evo
