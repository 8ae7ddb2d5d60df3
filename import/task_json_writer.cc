#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "import/task_draft.h"

namespace evo {
namespace {

using Json = nlohmann::ordered_json;

// On one line, with a blank after each comma and colon.
std::string OneLine(const Json& json) {
  std::string spaced;
  bool quoted = false;
  const std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"' && (i == 0 || text[i - 1] != '\\')) quoted = !quoted;
    spaced += c;
    if (!quoted && (c == ',' || c == ':')) spaced += ' ';
  }
  return spaced;
}

Json CaseJson(const TaskDraft& draft, const std::string& prefix, const DraftCase& sizes) {
  Json values = Json::object();
  std::string name = prefix;
  for (const DraftSize& size : draft.sizes) {
    values[size.name] = sizes.at(size.name);
    name += fmt::format("_{}{}", size.name, sizes.at(size.name));
  }
  return {{"name", name}, {"sizes", values}};
}

Json CasesJson(const TaskDraft& draft) {
  Json cases;
  cases["small"] = CaseJson(draft, "small", draft.cases.small);
  cases["search"] = Json::array({CaseJson(draft, "search", draft.cases.search)});
  cases["search_cpu"] = Json::array({CaseJson(draft, "cpu", draft.cases.search_cpu)});
  cases["held_out"] = Json::array();
  for (const DraftCase& held_out : draft.cases.held_out) cases["held_out"].push_back(CaseJson(draft, "held_out", held_out));
  cases["held_out_cpu"] = Json::array({CaseJson(draft, "held_out_cpu", draft.cases.held_out_cpu)});
  return cases;
}

Json Number(const std::string& text) {
  const Json parsed = Json::parse(text, nullptr, false);
  return parsed.is_number() ? parsed : Json(text);
}

Json ArgumentJson(const DraftArgument& argument) {
  Json json = {{"name", argument.name}, {"role", argument.role}, {"dtype", argument.dtype}};
  if (argument.role == "scalar") {
    json["value"] = Number(argument.value);
    return json;
  }
  for (const std::string& dimension : argument.shape) json["shape"].push_back(Number(dimension));
  if (argument.role != "out") json["generators"] = argument.generators;
  if (argument.role != "in") json["check"] = Json::parse(argument.check, nullptr, false);
  if (!argument.counted.empty()) json["counted"] = Number(argument.counted);
  return json;
}

std::string Bytes(const TaskDraft& draft) {
  static const std::map<std::string, int> kSizes = {{"f64", 8}, {"i64", 8}, {"u64", 8}, {"f16", 2}, {"bf16", 2},
                                                    {"i16", 2}, {"u16", 2}, {"i8", 1},  {"u8", 1}};
  std::string sum;
  for (const DraftArgument& argument : draft.arguments) {
    if (argument.role == "scalar") continue;
    const auto found = kSizes.find(argument.dtype);
    std::string term;
    for (const std::string& dimension : argument.shape) {
      const bool plain = dimension.find_first_of(" +-/") == std::string::npos;
      term += (plain ? dimension : "(" + dimension + ")") + " * ";
    }
    const int passes = argument.role == "inout" ? 2 : 1;
    sum += (sum.empty() ? "" : " + ") + term + std::to_string(passes * (found == kSizes.end() ? 4 : found->second));
  }
  return sum.empty() ? "0" : sum;
}

std::string Operations(const TaskDraft& draft) {
  std::string product = "2";
  for (const DraftArgument& argument : draft.arguments) {
    if (argument.role != "out" && argument.role != "inout") continue;
    for (const std::string& dimension : argument.shape)
      product += " * " + (dimension.find_first_of(" +-/") == std::string::npos ? dimension : "(" + dimension + ")");
    break;
  }
  if (!draft.each_adds) return product;
  if (draft.terms.find(' ') != std::string::npos) return product + " * (" + draft.terms + ")";
  if (!draft.terms.empty() && draft.terms != "1") product += " * " + draft.terms;
  return product;
}

}  // namespace

std::string TaskJson(const TaskDraft& draft) {
  Json notes = Json::array();
  for (const ImportQuestion& question : draft.questions)
    notes.push_back(
        fmt::format("{}: {} = {}: {}", question.unknown ? "not known" : "guess", question.key, question.guess, question.text));
  for (const std::string& note : draft.notes) notes.push_back(note);
  Json sizes = Json::array();
  for (const DraftSize& size : draft.sizes) sizes.push_back(size.name);
  std::vector<std::string> parts;
  const auto add = [&](const char* key, const std::string& value) { parts.push_back(fmt::format("  \"{}\": {}", key, value)); };
  const auto list = [](const std::vector<std::string>& lines) {
    return lines.empty() ? std::string("[]") : fmt::format("[\n    {}\n  ]", fmt::join(lines, ",\n    "));
  };
  add("name", OneLine(draft.name));
  add("summary", OneLine(draft.summary));
  std::vector<std::string> lines;
  for (const Json& note : notes) lines.push_back(OneLine(note));
  add("notes", list(lines));
  add("sizes", OneLine(sizes));
  lines.clear();
  for (const DraftArgument& argument : draft.arguments) lines.push_back(OneLine(ArgumentJson(argument)));
  add("arguments", list(lines));
  add("determinism", draft.tolerance ? "\"tolerance\"" : "\"bitwise\"");
  lines.clear();
  const Json cases = CasesJson(draft);
  for (const auto& [key, value] : cases.items()) lines.push_back(fmt::format("\"{}\": {}", key, OneLine(value)));
  add("cases", fmt::format("{{\n    {}\n  }}", fmt::join(lines, ",\n    ")));
  add("reference", draft.python ? "\"reference.py\"" : "\"baseline\"");
  add("baseline", OneLine(draft.baseline));
  add("bytes", OneLine(Bytes(draft)));
  add("operations", OneLine(Operations(draft)));
  return fmt::format("{{\n{}\n}}\n", fmt::join(parts, ",\n"));
}

std::string ReferenceSkeleton(const TaskDraft& draft) {
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::string shapes;
  for (const DraftArgument& argument : draft.arguments) {
    if (argument.role != "out") inputs.push_back(argument.name);
    if (argument.role == "out" || argument.role == "inout") outputs.push_back(argument.name);
    if (argument.role != "scalar")
      shapes += fmt::format("    # {}: {} [{}]\n", argument.name, argument.dtype, fmt::join(argument.shape, ", "));
  }
  for (const DraftSize& size : draft.sizes) inputs.push_back(size.name);
  std::string result = fmt::format("import numpy as np\n\n\ndef reference({}):\n{}", fmt::join(inputs, ", "), shapes);
  result += "    # Compute in double precision, and return every output by its name.\n";
  result += fmt::format("    raise NotImplementedError(\"write what the kernel computes: {}\")\n", fmt::join(outputs, ", "));
  return result;
}

}  // namespace evo
