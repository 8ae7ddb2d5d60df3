#include "mutators/parallelism/convolutions/convolution_axes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>
#include <utility>
#include <vector>

#include "kernel_templates/brought_parameters.h"

namespace evo {
namespace {

// An axis of images: the words for it and the names that the text has for it.
struct ImageAxis {
  std::string letter;            // "Y"
  std::string at;                // a position
  std::string size, taps_apart;  // of an image; between taps
  std::string first;             // of a pixel past which a tap is so far
  std::string line;              // the number of a line that says how far
  std::string distance;          // a tap's from the first one
  std::string out;               // the coordinate of `pixel`
  std::string tap;               // that of {}, a tap

  std::string Stride() const { return fmt::format("STRIDE_{}_", letter); }
};

// The outermost first.
std::vector<ImageAxis> AxesOf(bool is_volume, bool columns_outer) {
  std::vector<ImageAxis> axes;
  if (is_volume)
    axes.push_back({"Z", "at_z", "DEPTH_", "INWARD_", "front", "line.w", "inward", "pixel / (OUT_HEIGHT_ * OUT_WIDTH_)",
                    "{} / (ROWS_ * COLUMNS_)"});
  axes.push_back({"Y", "at_y", "HEIGHT_", "DOWN_", "top", "line.y", "down",
                  is_volume ? "pixel / OUT_WIDTH_ % OUT_HEIGHT_" : "pixel / OUT_WIDTH_",
                  is_volume       ? "{} / COLUMNS_ % ROWS_"
                  : columns_outer ? "{} % ROWS_"
                                  : "{} / COLUMNS_"});
  axes.push_back({"X", "at_x", "WIDTH_", "ALONG_", "left", "line.z", "along", "pixel % OUT_WIDTH_",
                  columns_outer ? "{} / ROWS_" : "{} % COLUMNS_"});
  return axes;
}

using TextOfAxis = std::function<std::string(const ImageAxis&)>;

class AxisTexts {
 public:
  explicit AxisTexts(const Convolution& found)
      : transposed_(found.transposed),
        axes_(AxesOf(found.planes.constant != 1, found.columns_outer)),
        sign_(found.transposed ? '-' : '+') {}

  std::string In(std::string text) const {
    text = WithOtherName(text, "FIRSTS_", Joined(", ", [&](const ImageAxis& axis) { return axis.at + " = " + First(axis); }));
    text = WithOtherName(text, "FROM_FIRST_", Index([&](const ImageAxis& axis) { return axis.at + Divided(axis); }));
    const std::string away = Index([&](const ImageAxis& axis) { return Distance(axis, "tap") + Divided(axis); });
    text = WithOtherName(text, "AWAY_OF_TAP_", transposed_ ? fmt::format("-({})", away) : away);
    text = WithOtherName(text, "TAPS_OF_T_", Joined(", ", [&](const ImageAxis& axis) {
                           return fmt::format("{} = {} {} {}", axis.distance, axis.at, sign_, Distance(axis, "t"));
                         }));
    text = WithOtherName(text, "TAP_WITHIN_", Joined(" && ", [&](const ImageAxis& axis) { return Within(axis, axis.distance); }));
    text = WithOtherName(text, "AT_WITHIN_", Joined(" && ", [&](const ImageAxis& axis) { return Within(axis, axis.at); }));
    text = WithOtherName(text, "AT_OF_LINE_", Joined(", ", [&](const ImageAxis& axis) {
                           return fmt::format("{} = {}[p][e] {} int({})", axis.at, axis.first, sign_, axis.line);
                         }));
    text = WithOtherName(text, "WITHIN_BY_LINE_", Joined(" && ", [&](const ImageAxis& axis) {
                           return WithinUnsigned(axis, fmt::format("{}[p] {} {}", axis.first, sign_, axis.line));
                         }));
    for (const ImageAxis& axis : axes_) {
      text = WithOtherName(text, fmt::format("AT_{}_", axis.letter),
                           fmt::format("{} {} {}", First(axis), sign_, Distance(axis, "tap")));
      text = WithOtherName(text, fmt::format("FIRST_{}_", axis.letter), First(axis));
      text = WithOtherName(text, fmt::format("DISTANCE_{}_", axis.letter), Distance(axis, "tap"));
    }
    text = WithOtherName(text, "EXTENT_", Joined(" * ", [](const ImageAxis& axis) { return axis.size; }));
    return WithOtherName(text, "OUT_EXTENT_", Joined(" * ", [](const ImageAxis& axis) { return "OUT_" + axis.size; }));
  }

 private:
  std::string Joined(std::string_view between, const TextOfAxis& text) const {
    std::vector<std::string> texts;
    for (const ImageAxis& axis : axes_) texts.push_back(text(axis));
    return fmt::format("{}", fmt::join(texts, between));
  }

  // An index of a pixel, of these coordinates.
  std::string Index(const TextOfAxis& coordinate) const {
    std::string index;
    for (const ImageAxis& axis : axes_) {
      const bool is_first = &axis == &axes_.front(), is_sum = axes_.size() == 3 && &axis == &axes_.back();
      if (!is_first) index = fmt::format("{} * {} + ", is_sum ? fmt::format("({})", index) : index, axis.size);
      index += coordinate(axis);
    }
    return index;
  }

  std::string First(const ImageAxis& axis) const {
    return transposed_ ? fmt::format("{} + PAD_{}_", axis.out, axis.letter)
                       : fmt::format("{} * {} - PAD_{}_", axis.out, axis.Stride(), axis.letter);
  }

  static std::string Distance(const ImageAxis& axis, std::string_view tap) {
    return fmt::format(fmt::runtime(axis.tap + " * {}"), tap, axis.taps_apart);
  }

  std::string Divided(const ImageAxis& axis) const { return transposed_ ? " / " + axis.Stride() : ""; }

  std::string Within(const ImageAxis& axis, const std::string& at) const {
    if (!transposed_) return fmt::format("{0} >= 0 && {0} < {1}", at, axis.size);
    return fmt::format("{0} >= 0 && {0} % {1} == 0 && {0} / {1} < {2}", at, axis.Stride(), axis.size);
  }

  // Numbers below 0 are far beyond the image.
  std::string WithinUnsigned(const ImageAxis& axis, const std::string& at) const {
    if (!transposed_) return fmt::format("{} < unsigned({})", at, axis.size);
    return fmt::format("({0}) % unsigned({1}) == 0 && ({0}) / unsigned({1}) < unsigned({2})", at, axis.Stride(), axis.size);
  }

  const bool transposed_;
  const std::vector<ImageAxis> axes_;
  const char sign_;
};

}  // namespace

std::string WithAxes(std::string text, const Convolution& found) {
  constexpr std::string_view kVolume = "VOLUME_ ";
  const bool is_volume = found.planes.constant != 1;
  for (std::size_t at = text.find(kVolume); at != std::string::npos; at = text.find(kVolume, at)) {
    const std::size_t line = text.rfind('\n', at) + 1;
    if (is_volume)
      text.erase(at, kVolume.size());
    else
      text.erase(line, text.find('\n', at) + 1 - line);
  }
  text = WithOtherName(text, "INWARD_OF_LINE_", is_volume ? "inward" : "0");
  return AxisTexts(found).In(std::move(text));
}

}  // namespace evo
