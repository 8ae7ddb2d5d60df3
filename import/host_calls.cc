#include "import/host_calls.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "import/host_expression.h"

namespace evo {
namespace {

bool IsKeyword(std::string_view token) {
  return token == "if" || token == "for" || token == "while" || token == "switch" || token == "return" || token == "sizeof" ||
         token == "else" || token == "do";
}

}  // namespace

HostCalls::HostCalls(const SourceProgram& program) : program_(program) {
  ReadCalls();
  ReadConstructions();
  ReadLaunchCalls();
  ReadAssignments();
}

std::vector<SourceRange> HostCalls::Split(std::size_t open, std::size_t close) const {
  std::vector<SourceRange> arguments;
  const auto& tokens = program_.tokens();
  std::size_t first = open + 1;
  int angle = 0;
  for (std::size_t i = first; i <= close; ++i) {
    const std::string_view token = program_.Token(i);
    if (i < close && (token == "(" || token == "[" || token == "{")) {
      i = program_.AfterBracket(i) - 1;
      continue;
    }
    // Commas within the template arguments of a call, such as max<int, 4>(a): only where a word precedes `<` and `>` closes it.
    if (i < close && token == "<" && IsWord(program_.Token(i - 1))) {
      std::size_t j = i + 1;
      while (j < close && (IsWord(program_.Token(j)) || program_.Token(j) == "," || program_.Token(j) == "*" ||
                           std::isdigit(static_cast<unsigned char>(program_.Token(j)[0])) != 0))
        ++j;
      if (program_.Token(j) == ">") angle = static_cast<int>(j);
    }
    if (i == close || (token == "," && static_cast<int>(i) > angle)) {
      if (i > first) arguments.push_back({tokens[first].begin, tokens[i - 1].end});
      first = i + 1;
    }
  }
  return arguments;
}

// Reads the launch whose `<<<` begins at token `at`; returns the token after it.
std::size_t HostCalls::ReadLaunch(std::size_t at) {
  const auto& tokens = program_.tokens();
  HostLaunch launch;
  std::size_t name = at;
  if (program_.Token(at - 1) == ">") {  // template arguments
    int depth = 0;
    std::size_t open = at - 1;
    for (; open > 0; --open) {
      if (program_.Token(open) == ">") ++depth;
      if (program_.Token(open) == ">>") depth += 2;
      if (program_.Token(open) == "<" && --depth == 0) break;
    }
    launch.template_arguments = Split(open, at - 1);
    name = open;
  }
  if (name == 0) return at + 1;
  --name;
  launch.name = std::string(program_.Token(name));
  // `<<<` is the tokens `<<` and `<`, or one token.
  std::size_t open = at;
  std::uint32_t length = 0;
  while (open < tokens.size() && length < 3) length += tokens[open++].size();
  std::size_t close = open;
  for (; close < tokens.size(); ++close) {
    if (program_.Token(close) == "(" || program_.Token(close) == "{") {
      close = program_.AfterBracket(close) - 1;
    } else if (program_.text().compare(tokens[close].begin, 3, ">>>") == 0) {
      break;
    }
  }
  if (close >= tokens.size()) return at + 1;
  launch.configuration = Split(open - 1, close);
  std::size_t paren = close;
  for (length = 0; paren < tokens.size() && length < 3;) length += tokens[paren++].size();
  if (program_.Token(paren) != "(") return at + 1;
  const std::size_t end = program_.AfterBracket(paren);
  launch.arguments = Split(paren, end - 1);
  launch.range = {tokens[name].begin, tokens[std::min(end, tokens.size()) - 1].end};
  launch.function = program_.FunctionAt(launch.range.begin);
  launches_.push_back(std::move(launch));
  return end;
}

// The token before a bracket, or before the template arguments of a function of the program: `launch<float>(`.
std::size_t HostCalls::NameOfCall(std::size_t open) const {
  std::size_t at = open - 1;
  if (program_.Token(at) != ">") return at;
  for (int depth = 0; at > 0; --at) {
    if (program_.Token(at) == ">") ++depth;
    if (program_.Token(at) == "<" && --depth == 0) break;
  }
  return at > 0 && program_.FindFunction(program_.Token(at - 1)) >= 0 ? at - 1 : open - 1;
}

// cudaLaunchKernel(kernel, grid, block, args, shared, stream), where `void* args[] = {&a, &b}`.
void HostCalls::ReadLaunchCalls() {
  for (const HostCall& call : calls_) {
    const bool cooperative = call.name == "cudaLaunchCooperativeKernel";
    if ((call.name != "cudaLaunchKernel" && !cooperative) || call.arguments.size() < 4) continue;
    const auto& tokens = program_.tokens();
    std::size_t name = program_.TokenAt(call.arguments[0].end);
    while (name > 0 && tokens[name - 1].begin >= call.arguments[0].begin) {
      --name;
      const int function = program_.FindFunction(program_.Token(name));
      if (function >= 0 && program_.functions()[static_cast<std::size_t>(function)].kernel) break;
    }
    const ProgramVariable* const list = program_.FindVariable(program_.Text(call.arguments[3]), call.function);
    if (list == nullptr || list->initialiser.size() == 0) continue;
    const std::size_t open = program_.TokenAt(list->initialiser.begin);
    if (program_.Token(open) != "{") continue;
    HostLaunch launch;
    launch.name = std::string(program_.Token(name));
    launch.function = call.function;
    launch.range = call.range;
    launch.cooperative = cooperative;
    launch.configuration = {call.arguments[1], call.arguments[2]};
    if (call.arguments.size() > 4) launch.configuration.push_back(call.arguments[4]);
    if (program_.Token(name + 1) == "<") {
      std::size_t close = name + 1;
      while (close < tokens.size() && program_.Token(close) != ">" && tokens[close].end < call.arguments[0].end) ++close;
      launch.template_arguments = Split(name + 1, close);
    }
    for (SourceRange one : Split(open, program_.AfterBracket(open) - 1)) {
      for (std::size_t at = program_.TokenAt(one.begin); at < tokens.size() && tokens[at].end < one.end; ++at) {
        if (program_.Token(at) == "&") one.begin = tokens[at + 1].begin;
      }
      launch.arguments.push_back(one);
    }
    launches_.push_back(std::move(launch));
  }
}

// `Layer layer(a, b);`, `Layer layer{a}` and `std::make_unique<Layer>(a)` call the constructor.
void HostCalls::ReadConstructions() {
  for (const ProgramVariable& variable : program_.variables()) {
    const std::size_t angle = variable.type.find('<');
    const std::string type = variable.type.substr(0, angle);
    const std::string name = type.substr(type.rfind(':') == std::string::npos ? 0 : type.rfind(':') + 1);
    const std::size_t open = program_.TokenAt(variable.initialiser.begin);
    if (variable.initialiser.size() == 0 || (program_.Token(open) != "(" && program_.Token(open) != "{")) continue;
    const auto is_constructor = [&](const ProgramFunction& one) { return one.record == name && one.name == name; };
    if (std::none_of(program_.functions().begin(), program_.functions().end(), is_constructor)) continue;
    calls_.push_back({name, variable.function, variable.initialiser, Split(open, program_.AfterBracket(open) - 1)});
  }
}

void HostCalls::ReadCalls() {
  const auto& tokens = program_.tokens();
  for (std::size_t i = 1; i < tokens.size(); ++i) {
    if (program_.text().compare(tokens[i].begin, 3, "<<<") == 0) {
      ReadLaunch(i);
      continue;
    }
    if (program_.Token(i) != "(") continue;
    std::size_t name = NameOfCall(i);
    if (program_.Token(name) == ">" && name >= 3 && program_.Token(name - 3).starts_with("make_")) --name;
    if (!IsWord(program_.Token(name)) || IsKeyword(program_.Token(name))) continue;
    const int function = program_.FunctionAt(tokens[i].begin);
    if (function < 0 || program_.functions()[static_cast<std::size_t>(function)].device) continue;
    const std::size_t end = program_.AfterBracket(i);
    if (end <= i + 1 || end > tokens.size()) continue;
    calls_.push_back({std::string(program_.Token(name)), function, {tokens[name].begin, tokens[end - 1].end}, Split(i, end - 1)});
  }
}

void HostCalls::ReadAssignments() {
  const auto& tokens = program_.tokens();
  for (std::size_t i = 1; i + 1 < tokens.size(); ++i) {
    if (program_.Token(i) != "=" || !IsWord(program_.Token(i - 1))) continue;
    std::string name(program_.Token(i - 1));
    std::size_t first = i - 1;
    while (first >= 2 && IsWord(program_.Token(first - 2)) && program_.Token(first - 2) != "this" &&
           (program_.Token(first - 1) == "." || program_.Token(first - 1) == "->")) {
      first -= 2;
      name = std::string(program_.Token(first)) + "." + name;
    }
    if (i >= 4 && program_.Token(i - 2) == "->" && program_.Token(i - 3) == "this") first = i - 3;
    // A declaration is in the tree: a type or `*` precedes it.
    const std::string_view before = first > 0 ? program_.Token(first - 1) : "";
    constexpr std::array<std::string_view, 9> kBefore{";", "{", "}", ")", "else", "(", "=", ",", ":"};
    if (std::find(kBefore.begin(), kBefore.end(), before) == kBefore.end()) continue;
    std::size_t end = i + 1;
    while (end < tokens.size() && program_.Token(end) != ";" && program_.Token(end) != "," && program_.Token(end) != ")") {
      end = program_.Token(end) == "(" || program_.Token(end) == "{" || program_.Token(end) == "[" ? program_.AfterBracket(end)
                                                                                                   : end + 1;
    }
    const int function = program_.FunctionAt(tokens[i].begin);
    if (function < 0 || end == i + 1 || end > tokens.size()) continue;
    std::size_t value = i + 1;  // of the last in `a = b = value`
    for (std::size_t at = i + 1; at < end; ++at) {
      if (program_.Token(at) == "=") value = at + 1;
    }
    if (value >= end) continue;
    const SourceRange range{tokens[value].begin, tokens[end - 1].end};
    assignments_[{function, name}].push_back(range);
    const ProgramVariable* const variable = program_.FindVariable(name, function);
    if (variable != nullptr && variable->function < 0) assignments_[{-1, KeyOf(*variable)}].push_back(range);
    if (variable == nullptr && first == i - 3) {  // this->n = n, where a parameter has the name
      const std::string& record = program_.functions()[static_cast<std::size_t>(function)].record;
      assignments_[{-1, record + "::" + name}].push_back(range);
    }
  }
}

const std::vector<SourceRange>& HostCalls::AssignedTo(const std::string& variable, int function) const {
  static const std::vector<SourceRange> kNone;
  const auto found = assignments_.find({function, variable});
  return found == assignments_.end() ? kNone : found->second;
}

const SourceRange* HostCalls::AssignedThrough(const std::string& variable, const std::string& field, int function) const {
  for (const auto& [key, ranges] : assignments_) {
    const auto& [inside, name] = key;
    if (inside == function || inside < 0 || !name.ends_with("." + field) || ranges.size() != 1) continue;
    const auto passed = PassedFor(name.substr(0, name.size() - field.size() - 1), inside);
    if (!passed || passed->function != function) continue;
    const std::string_view argument = program_.Text(passed->range);
    if (argument == variable || argument == "&" + variable) return &ranges.front();
  }
  return nullptr;
}

std::optional<HostCalls::Passed> HostCalls::SetByReference(const ProgramVariable& variable) const {
  const auto is_nothing = [&](const SourceRange& value) { return value.size() == 0 || program_.Text(value) == "0"; };
  const auto& own = AssignedTo(variable.name, variable.function);
  if (variable.function < 0 || !is_nothing(variable.initialiser) || !std::all_of(own.begin(), own.end(), is_nothing))
    return std::nullopt;
  for (const HostCall& call : calls_) {
    const int called = call.function == variable.function ? program_.FindFunction(call.name) : -1;
    if (called < 0) continue;
    const auto& parameters = program_.functions()[static_cast<std::size_t>(called)].parameters;
    for (std::size_t i = 0; i < std::min(parameters.size(), call.arguments.size()); ++i) {
      const bool reference = parameters[i].type.ends_with("&") && !parameters[i].type.starts_with("const ");
      if (!reference || program_.Text(call.arguments[i]) != variable.name) continue;
      // The last one that is made of something else: the first is that of a case such as n == 1, and a limit comes behind.
      const auto& assigned = AssignedTo(parameters[i].name, called);
      const auto last = std::find_if(assigned.rbegin(), assigned.rend(), [&](const SourceRange& value) {
        const auto tokens = program_.Tokens(value);
        return std::find(tokens.begin(), tokens.end(), parameters[i].name) == tokens.end();
      });
      if (last != assigned.rend()) return Passed{*last, called};
    }
  }
  return std::nullopt;
}

// What a parameter is without an argument.
std::optional<SourceRange> HostCalls::DefaultOf(const ProgramParameter& parameter) const {
  const SourceRange& range = program_.tree().node(parameter.node).range;
  for (std::size_t at = program_.TokenAt(range.begin); at < program_.tokens().size(); ++at) {
    if (program_.tokens()[at].end > range.end) break;
    if (program_.Token(at) == "=") return SourceRange{program_.tokens()[at + 1].begin, range.end};
  }
  return std::nullopt;
}

const HostCall* HostCalls::CallerOf(int function) const {
  if (function < 0) return nullptr;
  const ProgramFunction& callee = program_.functions()[static_cast<std::size_t>(function)];
  const HostCall* first = nullptr;
  for (const HostCall& call : calls_) {
    if (call.name != callee.name || call.function == function) continue;
    if (first == nullptr) first = &call;
    if (IsWarmUpFor(*first, call)) return &call;
  }
  return first;
}

// Whether a call is like a later one in the same function, but gets constants in the place of variables: run(x, 1024); run(x, n).
bool HostCalls::IsWarmUpFor(const HostCall& call, const HostCall& later) const {
  if (call.function != later.function || call.arguments.size() != later.arguments.size() || &call == &later) return false;
  const auto is_variable = [&](const SourceRange& argument) {
    const ProgramVariable* const variable = program_.FindVariable(program_.Text(argument), call.function);
    return variable != nullptr && variable->function == call.function;
  };
  bool same = false, constant = false;
  for (std::size_t i = 0; i < call.arguments.size(); ++i) {
    const std::string_view one = program_.Text(call.arguments[i]), other = program_.Text(later.arguments[i]);
    if (one == other) {
      same |= is_variable(call.arguments[i]);
      continue;
    }
    const HostExpression value = ParseHostExpression(program_.Tokens(call.arguments[i]));
    const bool number = value.kind == HostExpression::Kind::kNumber;
    if ((!number && program_.FindMacro(one) == nullptr) || !is_variable(later.arguments[i])) return false;
    constant = true;
  }
  return same && constant;
}

bool HostCalls::IsHelper(int function) const {
  if (function < 0) return false;
  const std::string& name = program_.functions()[static_cast<std::size_t>(function)].name;
  return std::count_if(calls_.begin(), calls_.end(), [&](const HostCall& call) { return call.name == name; }) > 1;
}

std::vector<const HostCall*> HostCalls::PathTo(const HostLaunch& launch) const {
  constexpr std::size_t kDeepest = 12;  // of functions that call one another
  std::vector<const HostCall*> path{&launch};
  while (path.size() < kDeepest) {
    const HostCall* const caller = CallerOf(path.front()->function);
    if (caller == nullptr) break;
    path.insert(path.begin(), caller);
  }
  return path;
}

std::optional<HostCalls::Passed> HostCalls::PassedFor(const std::string& parameter, int function) const {
  if (function < 0) return std::nullopt;
  const ProgramFunction& callee = program_.functions()[static_cast<std::size_t>(function)];
  const auto found = std::find_if(callee.parameters.begin(), callee.parameters.end(),
                                  [&](const ProgramParameter& one) { return one.name == parameter; });
  if (found == callee.parameters.end()) return std::nullopt;
  const auto index = static_cast<std::size_t>(found - callee.parameters.begin());
  const HostCall* const call = CallerOf(function);
  if (call == nullptr) return std::nullopt;
  if (index < call->arguments.size()) return Passed{call->arguments[index], call->function};
  if (const auto value = DefaultOf(*found)) return Passed{*value, call->function};
  return std::nullopt;
}

}  // namespace evo
