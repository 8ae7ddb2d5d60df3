#include "mutators/analysis/products/product_result_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <utility>

#include "kernel_templates/brought_parameters.h"
#include "kernel_templates/launch_argument.h"
#include "kernel_templates/renderer.h"
#include "mutators/analysis/source/convolution_parts.h"
#include "mutators/analysis/source/counted_loop.h"
#include "mutators/analysis/source/source_query.h"

namespace evo {
namespace {

// Whether a text is a name or a number.
bool IsOneWord(const std::string& text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; });
}

// Writes a product with the names of its kernel, and with a parameter for a number that has none.
class ProductResultWriter {
 public:
  ProductResultWriter(const MutationContext& context, int kernel, const LaunchDirective& launch, const ProductGuess& guess)
      : tree_(context.tree), kernel_(kernel), launch_(launch), guess_(guess) {
    std::size_t place = 0;
    for (const int child : tree_.node(kernel).children) {
      const SyntaxNode& parameter = tree_.node(child);
      if (parameter.kind_name != "ParmDecl" || place >= launch.arguments.size()) continue;
      const std::string& argument = launch.arguments[place++];
      if (parameter.type.find('*') == std::string::npos) continue;
      names_.try_emplace(argument, parameter.name);
      const std::string type = PointedTo(tree_, child);
      if (type == "__half" || type == "__nv_bfloat16") short_[parameter.name] = type;
      if (argument == guess.c) names_[argument] = parameter.name, element_ = type;
    }
  }

  std::optional<std::string> Text(std::string& why) {
    const auto unused = [&](const char* wanted) { return UnusedName(tree_.text(), wanted); };
    const std::string row = unused("row"), column = unused("column"), k = unused("k"), sum = unused("sum");
    const bool batched = guess_.batches.launch != "1";
    const std::string m = Bound(guess_.m), n = Bound(guess_.n), depth = Bound(guess_.k);
    const auto at = [&](const ProductNumber& next, const std::string& line, const ProductNumber& by, const std::string& along) {
      const std::string batch = batched && next.launch != "0" ? fmt::format("(long long)blockIdx.z * {} + ", Factor(next)) : "";
      return fmt::format("{}(long long){} * {} + {}", batch, line, Factor(by), along);
    };
    const std::string a = guess_.a_by_columns ? at(guess_.next_a, k, guess_.by_a, row) : at(guess_.next_a, row, guess_.by_a, k);
    const std::string b =
        guess_.b_by_columns ? at(guess_.next_b, column, guess_.by_b, k) : at(guess_.next_b, k, guess_.by_b, column);
    const std::string element = at(guess_.next_c, row, guess_.by_c, column);
    const std::string stored = element_;
    if (short_.contains(names_.at(guess_.c))) element_ = "float";
    if (element_ != "float" && guess_.end.function != ProductEnd::Function::kNone) {
      why = fmt::format("it computes a function of sums of type {}", element_);
      return std::nullopt;
    }
    const std::string body = fmt::format(
        "{{\n  const int {0} = blockIdx.x * blockDim.x + threadIdx.x;\n  const int {1} = blockIdx.y * blockDim.y + threadIdx.y;\n"
        "  if ({1} >= {2} || {0} >= {3}) return;\n  {4} {5} = 0;\n"
        "  for (int {6} = 0; {6} < {7}; ++{6}) {5} += {8} * {9};\n  {10}[{11}] = {12};\n}}",
        column, row, m, n, element_, sum, k, depth, AsReals(fmt::format("{}[{}]", names_.at(guess_.a), a)),
        AsReals(fmt::format("{}[{}]", names_.at(guess_.b), b)), names_.at(guess_.c), element,
        AsStored(stored, AsReals(guess_.end.Text(sum, names_, row, column, element))));
    Replacements replacements{{tree_.node(kernel_).children.back(), body}};
    std::vector<std::string> arguments = launch_.arguments;
    if (!missing_.empty()) {
      const int last = LastParameter(tree_, kernel_);
      std::string parameters(tree_.Text(last));
      for (std::size_t i = 0; i < missing_.size(); ++i) parameters += fmt::format(", int {}", NewName(i));
      replacements.emplace_back(last, parameters);
      arguments.insert(arguments.end(), missing_.begin(), missing_.end());
    }
    std::string text = TextWith(tree_, 0, replacements);
    const std::string batch = batched ? ", " + guess_.batches.launch : "";
    for (const auto& [field, value] :
         {std::pair<std::string, std::string>("arguments", fmt::format("{}", fmt::join(arguments, ", "))),
          std::pair<std::string, std::string>(
              "grid", fmt::format("ceil_div({}, 16), ceil_div({}, 16){}", guess_.n.launch, guess_.m.launch, batch)),
          std::pair<std::string, std::string>("block", "16, 16"), std::pair<std::string, std::string>("shared", "0")}) {
      if (field == "shared" && launch_.shared.text() == "0") continue;
      if (field == "arguments" && missing_.empty()) continue;
      text = RenderLaunchChange(text, {launch_.kernel, field, value}).value_or("");
    }
    return text;
  }

 private:
  // With elements of half and bfloat16 as floats.
  std::string AsReals(std::string text) const {
    for (const auto& [name, type] : short_) {
      for (std::size_t at = 0; (at = text.find(name + "[", at)) != std::string::npos;) {
        const std::size_t close = text.find(']', at);
        const bool whole = at == 0 || (std::isalnum(static_cast<unsigned char>(text[at - 1])) == 0 && text[at - 1] != '_');
        if (close == std::string::npos || !whole) {
          ++at;
          continue;
        }
        const std::string converted =
            fmt::format("{}({})", type == "__half" ? "__half2float" : "__bfloat162float", text.substr(at, close + 1 - at));
        text.replace(at, close + 1 - at, converted);
        at += converted.size();
      }
    }
    return text;
  }
  static std::string AsStored(const std::string& type, const std::string& value) {
    if (type == "__half") return fmt::format("__float2half({})", value);
    return type == "__nv_bfloat16" ? fmt::format("__float2bfloat16({})", value) : value;
  }

  std::string NewName(std::size_t place) const {
    return UnusedName(tree_.text(), place == 0 ? "size" : fmt::format("size_{}", place + 1));
  }

  std::string New(const ProductNumber& number) {
    const auto known = std::find(missing_.begin(), missing_.end(), number.launch);
    const auto place = static_cast<std::size_t>(known - missing_.begin());
    if (known == missing_.end()) missing_.push_back(number.launch);
    return NewName(place);
  }
  std::string Bound(const ProductNumber& number) {
    return number.kernel.empty() || IsOneWord(number.kernel) ? Factor(number) : fmt::format("({})", number.kernel);
  }
  std::string Factor(const ProductNumber& number) { return number.kernel.empty() ? New(number) : number.kernel; }

  const SyntaxTree& tree_;
  int kernel_;
  const LaunchDirective& launch_;
  const ProductGuess& guess_;
  std::map<std::string, std::string> names_;  // of buffers, in the kernel
  std::map<std::string, std::string> short_;  // the types of those of half and bfloat16, by name
  std::string element_;
  std::vector<std::string> missing_;
};

}  // namespace

std::optional<std::string> TextOfProduct(const MutationContext& context, int kernel, const LaunchDirective& launch,
                                         const ProductGuess& guess, std::string& why) {
  return ProductResultWriter(context, kernel, launch, guess).Text(why);
}

}  // namespace evo
