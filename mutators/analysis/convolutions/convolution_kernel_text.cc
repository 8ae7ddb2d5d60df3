#include "mutators/analysis/convolutions/convolution_kernel_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <utility>

#include "mutators/analysis/source/element_types.h"
#include "mutators/analysis/source/source_query.h"

namespace evo {
namespace {

constexpr int kThreadsOfElements = 128;

// Names end with _, so that those of the source stay what they are.
constexpr std::array kNamesOfNumbers{"channels_",  "groups_",     "filters_",  "planes_",     "rows_",       "columns_",
                                     "stride_z_",  "stride_y_",   "stride_x_", "dilation_z_", "dilation_y_", "dilation_x_",
                                     "pad_z_",     "pad_y_",      "pad_x_",    "depth_",      "height_",     "width_",
                                     "out_depth_", "out_height_", "out_width_"};
constexpr std::size_t kFirstOfTaps = 3, kEndOfTaps = 15;
static_assert(kNamesOfNumbers.size() == kNumbersOfShape.size());

bool IsOneNumber(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

std::string WithText(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

// What the kernel calls the numbers of its convolution. Those that are passed alike have one name.
struct NamesOfConvolution {
  explicit NamesOfConvolution(const ConvolutionExtents& extents) : images(Named("images_", extents.images)) {
    // Constants that are no taps are passed, too, since recognisers look for sizes among what is passed.
    for (std::size_t i = 0; i < kNumbersOfShape.size(); ++i) {
      const bool is_tap = i >= kFirstOfTaps && i < kEndOfTaps;
      numbers.push_back(Named(kNamesOfNumbers[i], extents.numbers[i], is_tap));
    }
  }
  const std::string& operator()(std::int64_t ConvolutionShape::*number) const { return numbers[PlaceOfNumber(number)]; }

  std::vector<std::pair<std::string, std::string>> parameters;  // and what is passed for them
  std::string images;
  std::vector<std::string> numbers;  // as kNumbersOfShape

 private:
  std::string Named(const char* wanted, const std::string& passed, bool is_tap = false) {
    if (IsOneNumber(passed) && (is_tap || passed == "1")) return passed;
    for (const auto& [name, known] : parameters) {
      if (known == passed) return name;
    }
    parameters.emplace_back(wanted, passed);
    return wanted;
  }
};

class ConvolutionKernelWriter {
 public:
  using Shape = ConvolutionShape;
  explicit ConvolutionKernelWriter(const ConvolutionKernelText& text)
      : text_(text),
        of_(text.extents),
        volume_(of_(&Shape::out_depth) != "1" || of_(&Shape::depth) != "1" || of_(&Shape::planes) != "1"),
        one_row_(!volume_ && of_(&Shape::out_height) == "1" && of_(&Shape::height) == "1" && of_(&Shape::rows) == "1"),
        filter_(of_(&Shape::filters) == "1" ? "0" : "filter_"),
        channel_(of_(&Shape::channels) == "1" ? "0" : "channel_") {}

  std::string Text() {
    Begin();
    WritePlace();
    code_ += TypeOf(text_.roles.x) == "int" ? "  int sum_ = 0;\n" : "  float sum_ = 0.0f;\n";
    if (channel_ != "0") Loop("channel_", of_(&Shape::channels));
    if (volume_) Tap("h_", "z_", "layer_", {&Shape::planes, &Shape::stride_z, &Shape::dilation_z, &Shape::pad_z, &Shape::depth});
    if (!one_row_) Tap("i_", "v_", "row_", {&Shape::rows, &Shape::stride_y, &Shape::dilation_y, &Shape::pad_y, &Shape::height});
    Tap("j_", "u_", "column_", {&Shape::columns, &Shape::stride_x, &Shape::dilation_x, &Shape::pad_x, &Shape::width});
    code_ += fmt::format("{}sum_ += {}(x_[{}]) * {}(f_[{}]);\n", indent_, ConversionToFloat(TypeOf(text_.roles.x)), IndexOfX(),
                         ConversionToFloat(TypeOf(text_.roles.f)), IndexOfF());
    while (indent_.size() > 2) {
      indent_.resize(indent_.size() - 2);
      code_ += indent_ + "}\n";
    }
    return code_ + fmt::format("  y_[at_] = {}({});\n}}\n", ConversionFromFloat(TypeOf(text_.roles.y)), Value());
  }

 private:
  const std::string& TypeOf(const std::string& buffer) const { return text_.types.at(buffer); }

  void Begin() {
    std::vector<std::string> parameters;
    const auto add = [&](const std::string& buffer, const std::string& name, const char* constant) {
      called_[buffer] = name;
      parameters.push_back(fmt::format("{}{}* {}", constant, ElementName(TypeOf(buffer)), name));
    };
    add(text_.roles.x, "x_", "const ");
    add(text_.roles.f, "f_", "const ");
    for (std::size_t i = 0; i < text_.roles.others.size(); ++i) add(text_.roles.others[i], fmt::format("b{}_", i), "const ");
    add(text_.roles.y, "y_", "");
    for (const auto& one : text_.passed) parameters.push_back(fmt::format("{} {}", one.type, one.name));
    for (const auto& [name, argument] : of_.parameters) parameters.push_back(fmt::format("int {}", name));
    std::string count = of_.images;
    for (const std::string& extent :
         {of_(&Shape::filters), of_(&Shape::out_depth), of_(&Shape::out_height), of_(&Shape::out_width)}) {
      if (extent != "1") count += " * " + extent;
    }
    code_ = fmt::format("__global__ void {}({}) {{\n  const int at_ = blockIdx.x * {} + threadIdx.x;\n  if (at_ >= {}) return;\n",
                        text_.kernel, fmt::join(parameters, ", "), kThreadsOfElements, count);
  }

  // Where the element is.
  void WritePlace() {
    std::string left = "at_";
    const auto take = [&](const char* name, const std::string& extent) {
      code_ += fmt::format("  const int {} = {} % {};\n", name, left, extent);
      left += " / " + extent;
    };
    if (text_.layout.y_last && filter_ != "0") take("filter_", of_(&Shape::filters));
    take("column_", of_(&Shape::out_width));
    if (!one_row_) take("row_", of_(&Shape::out_height));
    if (volume_) take("layer_", of_(&Shape::out_depth));
    if (!text_.layout.y_last && filter_ != "0") take("filter_", of_(&Shape::filters));
    code_ += fmt::format("  const int image_ = {};\n", left);
  }

  void Loop(const char* name, const std::string& count) {
    code_ += fmt::format("{0}for (int {1} = 0; {1} < {2}; ++{1}) {{\n", indent_, name, count);
    indent_ += "  ";
  }

  // The taps along an axis, that are in the image.
  struct AxisOfKernel {
    std::int64_t Shape::*count, Shape::*stride, Shape::*dilation, Shape::*pad, Shape::*extent;
  };
  void Tap(const char* name, const char* at, const char* out, const AxisOfKernel& axis) {
    Loop(name, of_(axis.count));
    const std::string &stride = of_(axis.stride), &dilation = of_(axis.dilation), &pad = of_(axis.pad);
    if (text_.layout.transposed)
      code_ += fmt::format(
          "{0}const int from_{1} = {2} + {3} - {4} * {5};\n{0}if (from_{1} < 0 || from_{1} % {6} != 0) continue;\n"
          "{0}const int {1} = from_{1} / {6};\n",
          indent_, at, out, pad, name, dilation, stride);
    else
      code_ += fmt::format("{}const int {} = {} * {} + {} * {} - {};\n", indent_, at, out, stride, name, dilation, pad);
    code_ += fmt::format("{0}if ({1} < 0 || {1} >= {2}) continue;\n", indent_, at, of_(axis.extent));
  }

  std::string IndexOfX() const {
    const std::string &groups = of_(&Shape::groups), &channels = of_(&Shape::channels), &filters = of_(&Shape::filters);
    const std::string &width = of_(&Shape::width), &height = of_(&Shape::height);
    const bool grouped = groups != "1", depthwise = grouped && channels == "1" && groups == filters;
    const std::string all = !grouped ? channels : depthwise ? groups : fmt::format("({} * {})", channels, groups);
    const std::string channel = depthwise ? filter_
                                : !grouped
                                    ? channel_
                                    : fmt::format("({} / ({} / {}) * {} + {})", filter_, filters, groups, channels, channel_);
    std::string pixel = one_row_ ? "u_" : fmt::format("(v_ * {} + u_)", width);
    std::string pixels = one_row_ ? width : fmt::format("{} * {}", height, width);
    if (volume_) {
      pixel = fmt::format("((z_ * {} + v_) * {} + u_)", height, width);
      pixels = fmt::format("{} * {}", of_(&Shape::depth), pixels);
    }
    if (text_.layout.x_last) return fmt::format("((long long)image_ * ({}) + {}) * {} + {}", pixels, pixel, all, channel);
    return fmt::format("((long long)image_ * {} + {}) * ({}) + {}", all, channel, pixels, pixel);
  }

  std::string IndexOfF() const {
    const ConvolutionShape& layout = text_.layout;
    const std::string &rows = of_(&Shape::rows), &columns = of_(&Shape::columns), &filters = of_(&Shape::filters);
    std::string tap = one_row_               ? "j_"
                      : layout.columns_outer ? fmt::format("(j_ * {} + i_)", rows)
                                             : fmt::format("(i_ * {} + j_)", columns);
    std::string taps = one_row_ ? columns : fmt::format("({} * {})", rows, columns);
    if (volume_) {
      tap = fmt::format("((h_ * {} + i_) * {} + j_)", rows, columns);
      taps = fmt::format("({} * {} * {})", of_(&Shape::planes), rows, columns);
    }
    if (layout.reversed) tap = fmt::format("({} - 1 - {})", taps, tap);
    const std::string& channels = of_(&Shape::channels);
    const std::string within = layout.channels_inner ? fmt::format("({} * {} + {})", tap, channels, channel_)
                                                     : fmt::format("({} * {} + {})", channel_, taps, tap);
    if (layout.channels_outer) return fmt::format("({} * {} + {}) * {} + {}", channel_, filters, filter_, taps, tap);
    if (layout.filters_inner) return fmt::format("{} * {} + {}", within, filters, filter_);
    return fmt::format("{} * {} * {} + {}", filter_, channels, taps, within);
  }

  // What is stored, before it is converted.
  std::string Value() const {
    std::string value = text_.end.Text("sum_", called_, filter_, "column_", "at_");
    for (const std::string& buffer : text_.roles.others) {
      const std::string conversion = ConversionToFloat(TypeOf(buffer));
      if (conversion.empty()) continue;
      for (const std::string& index : {filter_, std::string("at_")}) {
        const std::string element = fmt::format("{}[{}]", called_.at(buffer), index);
        value = WithText(value, element, fmt::format("{}({})", conversion, element));
      }
    }
    return value;
  }

  const ConvolutionKernelText& text_;
  NamesOfConvolution of_;
  bool volume_, one_row_;
  std::string filter_, channel_;  // their indices
  std::map<std::string, std::string> called_;
  std::string code_, indent_ = "  ";
};

}  // namespace

std::string ConvolutionKernelText::Kernel() const { return ConvolutionKernelWriter(*this).Text(); }

std::string ConvolutionKernelText::Launch() const {
  std::vector<std::string> arguments{roles.x, roles.f}, count;
  arguments.insert(arguments.end(), roles.others.begin(), roles.others.end());
  arguments.push_back(roles.y);
  for (const Passed& one : passed) arguments.push_back(one.argument);
  for (const auto& [name, argument] : NamesOfConvolution(extents).parameters) arguments.push_back(argument);
  for (const std::string& one : {extents.images, extents.Of(&ConvolutionShape::filters), extents.Of(&ConvolutionShape::out_depth),
                                 extents.Of(&ConvolutionShape::out_height), extents.Of(&ConvolutionShape::out_width)}) {
    if (one != "1") count.push_back(Parenthesised(one));
  }
  const std::string elements = count.empty() ? "1" : fmt::format("{}", fmt::join(count, " * "));
  return fmt::format("launch {}({}) grid(ceil_div({}, {})) block({})", kernel, fmt::join(arguments, ", "), elements,
                     kThreadsOfElements, kThreadsOfElements);
}

}  // namespace evo
