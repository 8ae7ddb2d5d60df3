#include "report/svg_charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <vector>

namespace evo {
namespace {

using nlohmann::json;

constexpr double kWidth = 760;
constexpr double kHeight = 300;
constexpr double kLeft = 86;
constexpr double kRight = 20;
constexpr double kTop = 34;
constexpr double kBottom = 42;
// More points than that make a large file in which none is seen.
constexpr std::size_t kMostPoints = 5'000;

std::string Escaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '&':
        escaped += "&amp;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
    }
  }
  return escaped;
}

std::string TimeText(double ns) {
  constexpr std::array<std::pair<double, const char*>, 4> kUnits{{{1e9, "s"}, {1e6, "ms"}, {1e3, "\xc2\xb5s"}, {1, "ns"}}};
  for (const auto& [size, name] : kUnits) {
    if (ns >= size) return fmt::format("{:.3g} {}", ns / size, name);
  }
  return fmt::format("{:.3g} ns", ns);
}

struct Range {
  double low = INFINITY;
  double high = -INFINITY;
  void Add(const json& value) {
    if (!value.is_number()) return;
    low = std::min(low, value.get<double>());
    high = std::max(high, value.get<double>());
  }
  bool empty() const { return !(low <= high); }
};

// One chart: a linear axis to the right, a logarithmic one upwards.
class Chart {
 public:
  Chart(double top, const std::string& title, const std::string& x_label, Range x, Range y) : top_(top), x_(x), y_(y) {
    y_.low /= 1.12;
    y_.high *= 1.12;
    if (!(x_.high > x_.low)) x_.high = x_.low + 1;
    Text(kLeft, top_ + 18, "title", "start", title);
    Text((kLeft + kWidth - kRight) / 2, top_ + kHeight - 8, "", "middle", x_label);
    constexpr int kTicks = 5;
    for (int i = 0; i <= kTicks; ++i) {
      const double value = x_.low + (x_.high - x_.low) * i / kTicks;
      Line(X(value), top_ + kTop, X(value), top_ + kHeight - kBottom, "grid");
      Text(X(value), top_ + kHeight - kBottom + 16, "", "middle", fmt::format("{:.4g}", value));
      const double ns = y_.low * std::pow(y_.high / y_.low, static_cast<double>(i) / kTicks);
      Line(kLeft, Y(ns), kWidth - kRight, Y(ns), "grid");
      Text(kLeft - 8, Y(ns) + 4, "", "end", TimeText(ns));
    }
  }

  double X(double value) const { return kLeft + (value - x_.low) / (x_.high - x_.low) * (kWidth - kRight - kLeft); }
  double Y(double ns) const {
    const double share = std::log(ns / y_.low) / std::log(y_.high / y_.low);
    return top_ + kHeight - kBottom - share * (kHeight - kBottom - kTop);
  }
  void Level(const std::string& name, double ns, const char* kind) {
    if (!(ns >= y_.low && ns <= y_.high)) return;
    Line(kLeft, Y(ns), kWidth - kRight, Y(ns), kind);
    Text(kWidth - kRight - 4, Y(ns) - 4, "", "end", name);
  }
  void Line(double x1, double y1, double x2, double y2, const char* kind) {
    out_ += fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" class=\"{}\"/>\n", x1, y1, x2, y2, kind);
  }
  void Text(double x, double y, const char* kind, const char* anchor, const std::string& text) {
    out_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"{}\" text-anchor=\"{}\">{}</text>\n", x, y, kind, anchor,
                        Escaped(text));
  }
  void Raw(const std::string& element) { out_ += element; }
  const std::string& out() const { return out_; }

 private:
  double top_;
  Range x_;
  Range y_;
  std::string out_;
};

std::string ProgressChart(const json& data, double top, bool seconds) {
  const json& p = data["progress"];
  const json& xs = seconds ? p["seconds"] : p["id"];
  const json& ends = data["generations"]["seconds"];
  Range x{0, 0};
  x.Add(seconds ? (ends.empty() ? json() : ends.back()) : data["candidates"]["total"]);
  Range y;
  for (const json& score : p["score_ns"]) y.Add(score);
  const json& lines = data["lines"];
  y.Add(lines["baseline_ns"]);
  y.Add(lines["ceiling_ns"]);
  for (const json& peer : lines["peers"]) y.Add(peer["ns"]);
  if (y.empty()) return "";
  Chart chart(top, fmt::format("Fastest so far over {}", seconds ? "seconds" : "evaluations"),
              seconds ? "seconds" : "evaluations", x, y);
  const auto level = [&](const std::string& name, const json& ns, const char* kind) {
    if (ns.is_number()) chart.Level(name + " " + TimeText(ns.get<double>()), ns.get<double>(), kind);
  };
  level("baseline", lines["baseline_ns"], "baseline");
  level("ceiling", lines["ceiling_ns"], "ceiling");
  for (const json& peer : lines["peers"]) level(peer["name"].get<std::string>(), peer["ns"], "peer");
  std::string path;
  for (std::size_t i = 0; i < p["score_ns"].size(); ++i) {
    if (!xs[i].is_number() || !p["score_ns"][i].is_number()) continue;
    const double at = chart.X(xs[i].get<double>());
    const double score = chart.Y(p["score_ns"][i].get<double>());
    path += path.empty() ? fmt::format("M{:.1f},{:.1f}", at, score) : fmt::format("H{:.1f}V{:.1f}", at, score);
    chart.Raw(fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" class=\"dot\"/>\n", at, score));
  }
  chart.Raw(fmt::format("<path d=\"{}H{:.1f}\" class=\"curve\"/>\n", path, kWidth - kRight));
  return chart.out();
}

std::string CloudChart(const json& data, double top) {
  const json& c = data["candidates"];
  Range x{0, 0};
  Range y;
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < c["id"].size(); ++i) {
    if (!c["score_ns"][i].is_number()) continue;
    rows.push_back(i);
    x.Add(c["generation"][i]);
    y.Add(c["score_ns"][i]);
  }
  if (y.empty()) return "";
  Chart chart(top, fmt::format("{} right candidates", rows.size()), "generation", x, y);
  const std::size_t stride = (rows.size() + kMostPoints - 1) / kMostPoints;
  for (std::size_t i = 0; i < rows.size(); i += stride) {
    chart.Raw(fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2\" class=\"point\"/>\n",
                          chart.X(c["generation"][rows[i]].get<double>()), chart.Y(c["score_ns"][rows[i]].get<double>())));
  }
  return chart.out();
}

}  // namespace

std::string SvgCharts(const json& data) {
  std::string charts;
  double top = 34;
  for (const std::string& chart :
       {ProgressChart(data, top, false), ProgressChart(data, top + kHeight, true), CloudChart(data, top + 2 * kHeight)})
    charts += chart;
  const double height = charts.empty() ? 80 : top + 3 * kHeight;
  const json& run = data["run"];
  const std::string title =
      fmt::format("{}, run {}, {}", run.value("task", ""), run["run"].get<std::int64_t>(), run.value("device_name", ""));
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" role=\"img\" "
             "aria-label=\"{2}\">\n"
             "<style>text{{font:12px "
             "system-ui,sans-serif;fill:#59636e}}.title{{font-size:14px;font-weight:600;fill:#1b1f24}}.grid{{stroke:#e6e8eb}}"
             ".curve{{fill:none;stroke:#0b5cad;stroke-width:2}}.dot{{fill:#0b5cad}}.point{{fill:#1f6fc4;fill-opacity:.5}}"
             ".baseline{{stroke:#6b7280;stroke-dasharray:6 4}}.peer{{stroke:#8a3ffc;stroke-dasharray:6 "
             "4}}.ceiling{{stroke:#11753a;stroke-dasharray:6 4}}</style>\n"
             "<rect width=\"{0}\" height=\"{1}\" fill=\"#fff\"/>\n<text x=\"{3}\" y=\"22\" class=\"title\">{2}</text>\n",
             kWidth, height, Escaped(title), kLeft) +
         charts + (charts.empty() ? "<text x=\"86\" y=\"56\">no candidate is right yet</text>\n" : "") + "</svg>\n";
}

}  // namespace evo
