#include "report/markdown.h"

#include <fmt/format.h>

#include <algorithm>

namespace evo {
namespace {

using nlohmann::json;

std::string Time(const json& ns) { return ns.is_number() ? fmt::format("{:.3f}", ns.get<double>() / 1000) : "-"; }
std::string Ratio(const json& value) { return value.is_number() ? fmt::format("{:.3f}", value.get<double>()) : "-"; }

std::string Fact(const json& facts, const char* name) { return facts.value(name, json()).is_number() ? facts[name].dump() : "-"; }

// A block of code, fenced by more backticks than the text has in a row.
std::string Block(std::string_view language, std::string_view text) {
  std::size_t longest = 0;
  std::size_t row = 0;
  for (const char c : text) longest = std::max(longest, row = c == '`' ? row + 1 : 0);
  const std::string fence(std::max<std::size_t>(3, longest + 1), '`');
  return fmt::format("{}{}\n{}{}{}\n", fence, language, text, text.ends_with('\n') ? "" : "\n", fence);
}

std::string Steps(const json& steps) {
  std::string text =
      "| step | candidate | us | gain | operator | what it did | registers | spills, B | occupancy |\n"
      "| ---: | ---: | ---: | ---: | --- | --- | ---: | ---: | ---: |\n";
  int number = 0;
  for (const json& step : steps) {
    const json& facts = step["facts"];
    text += fmt::format("| {} | {} | {} | {} | {} | {}{} | {} | {} | {} |\n", number++, step["id"].get<std::int64_t>(),
                        Time(step["score_ns"]), Ratio(step["gain"]), MarkdownText(step["operator"].get<std::string>()),
                        MarkdownText(step["change"].get<std::string>()), step["unproven"].empty() ? "" : " (**unproven**)",
                        Fact(facts, "registers"), Fact(facts, "spill_bytes"),
                        facts["occupancy"].is_number() ? fmt::format("{:.2f}", facts["occupancy"].get<double>()) : "-");
  }
  return text;
}

std::string Evidence(const json& check) {
  std::string text = fmt::format("- verdict: {}\n", MarkdownText(check.value("verdict", "")));
  for (const json& line : check["evidence"]) {
    const auto heading = line[0].get<std::string>();
    text += fmt::format("{} {}{}\n", heading.empty() ? "  -" : "-", heading.empty() ? "" : MarkdownText(heading) + ": ",
                        MarkdownText(line[1].get<std::string>()));
  }
  for (const json& tool : check.value("tools", json::array())) {
    text += fmt::format("- {}: {}{}\n", MarkdownText(tool.value("tool", "")), MarkdownText(tool.value("result", "")),
                        tool.value("message", "").empty() ? "" : ", " + MarkdownText(tool.value("message", "")));
  }
  return text;
}

}  // namespace

std::string MarkdownText(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < ' ' || byte == 0x7f) {
      if (!escaped.ends_with(' ')) escaped += ' ';
    } else if (c == '<') {
      escaped += "&lt;";
    } else if (c == '>') {
      escaped += "&gt;";
    } else if (c == '&') {
      escaped += "&amp;";
    } else {
      // A mention or a link of a hostile name must not notify or lead anybody.
      if (std::string_view("\\`*_{}[]()#!|~@").find(c) != std::string_view::npos) escaped += '\\';
      escaped += c;
    }
  }
  return escaped;
}

std::string StoryMarkdown(const json& data, const std::string& difference) {
  const json& run = data["run"];
  const auto text = [&](const char* name) { return MarkdownText(run.value(name, "")); };
  std::string out = fmt::format("## {}: evolved by evo {}\n\n", text("task"), text("tool_version"));
  out +=
      fmt::format("{}, L2 {}; {} candidates, {} of them right, in {} generations; seed {}.\n\n", text("device_name"), text("l2"),
                  run["evaluated"].get<int>(), run["valid"].get<int>(), run["generations"].get<int>(), text("seed"));
  if (data["check"].is_null()) return out + "No candidate was shown right.\n";
  const json& check = data["check"];
  if (check.value("speedup", json()).is_number()) {
    out += fmt::format("**{} times as fast as the baseline** ({} us against {} us, timed again in alternation).\n\n",
                       Ratio(check["speedup"]), Time(check["candidate_ns"]), Time(check["baseline_ns"]));
  }
  for (const json& peer : data["lines"]["peers"])
    out += fmt::format("{}: {} us.\n\n", MarkdownText(peer.value("name", "")), Time(peer["ns"]));
  if (run.value("device", "") == "cpu")
    out +=
        "Kernels were emulated on a processor: whether they are right carries over to a GPU, which of them is faster does "
        "not.\n\n";
  out += "### Steps\n\n" + Steps(data["story"]) + "\n### Evidence\n\n" + Evidence(check);
  if (!difference.empty())
    out += "\n<details><summary>Difference from the baseline</summary>\n\n" + Block("diff", difference) + "\n</details>\n";
  return out;
}

}  // namespace evo
