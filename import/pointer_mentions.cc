#include "import/pointer_mentions.h"

#include <algorithm>
#include <set>
#include <string>

namespace evo {
namespace {

// Of the runtime: they allocate, fill, move and free, or copy what is counted.
bool IsHarmlessCall(std::string_view name) {
  static const std::set<std::string_view> kExact = {"cudaMemcpy",           "cudaMemcpyAsync", "free",   "sizeof", "swap",
                                                    "cudaMemPrefetchAsync", "cudaMemAdvise",   "printf", "assert"};
  return kExact.contains(name) || name.starts_with("cudaMalloc") || name.starts_with("cudaFree") ||
         name.starts_with("cudaMemset");
}

}  // namespace

PointerMentions::PointerMentions(const SourceProgram& program, const HostCode& host, const std::vector<TakenLaunch>& launches,
                                 const HostCode::Pointer& pointer, bool exchanged)
    : program_(program), host_(host), launches_(launches), pointer_(pointer), exchanged_(exchanged) {
  for (const HostCall& call : host.calls()) calls_.emplace(program.TokenAt(call.range.begin), &call);
}

bool PointerMentions::Any() const {
  for (std::size_t i = 0; i < program_.functions().size(); ++i) {
    const ProgramFunction& function = program_.functions()[i];
    if (!function.kernel && !function.device && function.body.size() > 0 && InFunction(static_cast<int>(i))) return true;
  }
  return false;
}

// Whether Origin follows what a call of the program's own function passes: it knows the first caller.
bool PointerMentions::IsFollowed(const HostCall& call) const {
  if (program_.FindFunction(call.name) < 0) return false;
  const auto first = std::find_if(host_.calls().begin(), host_.calls().end(), [&](const HostCall& one) {
    return one.name == call.name && one.function != program_.FindFunction(one.name) &&
           one.arguments.size() == call.arguments.size();
  });
  if (first == host_.calls().end()) return false;
  for (std::size_t i = 0; i < call.arguments.size(); ++i) {
    const bool same_text =
        first->function == call.function && program_.Text(first->arguments[i]) == program_.Text(call.arguments[i]);
    if (!same_text &&
        IsPointer(program_.TokenAt(call.arguments[i].begin), program_.TokenAt(call.arguments[i].end), call.function))
      return false;
  }
  return true;
}

// Also one that repeats what is taken.
bool PointerMentions::IsTaken(const HostLaunch& launch) const {
  if (std::find(left_out_.begin(), left_out_.end(), &launch) != left_out_.end()) return true;
  return std::any_of(launches_.begin(), launches_.end(), [&](const TakenLaunch& one) {
    if (one.launch == nullptr || one.launch->name != launch.name || one.launch->arguments.size() != launch.arguments.size())
      return false;
    for (std::size_t i = 0; one.launch != &launch && i < launch.arguments.size(); ++i) {
      if (program_.Text(launch.arguments[i]) == program_.Text(one.launch->arguments[i])) continue;
      const HostCode::Pointer mine = host_.Origin(launch.arguments[i], launch.function);
      if (mine == pointer_ || host_.Origin(one.launch->arguments[i], one.launch->function) == pointer_) return false;
    }
    return true;
  });
}

// Whether tokens are the pointer, or a struct that has it.
bool PointerMentions::IsPointer(std::size_t first, std::size_t end, int function) const {
  if (first >= end || end > program_.tokens().size()) return false;
  const auto mentioned = host_.Origin({program_.tokens()[first].begin, program_.tokens()[end - 1].end}, function);
  if (mentioned.name.empty()) return false;
  const std::string_view last = program_.Token(end - 1);
  // A field of any object of the class.
  const ProgramVariable* const variable = program_.FindVariable(pointer_.name, pointer_.function);
  const bool of_class = pointer_.function < 0 && (variable == nullptr || !variable->record.empty());
  if (of_class && last == pointer_.name && end - first > 1) return true;
  if (mentioned.function != pointer_.function) return false;
  return mentioned.name == pointer_.name || pointer_.name.starts_with(mentioned.name + ".");
}

bool PointerMentions::IsDeclared(std::size_t at) const {
  const SourceRange& token = program_.tokens()[at];
  return std::any_of(program_.variables().begin(), program_.variables().end(), [&](const ProgramVariable& one) {
    return one.name == program_.Text(token) && program_.tree().node(one.node).range.Contains(token) &&
           (one.initialiser.size() == 0 || token.end <= one.initialiser.begin);
  });
}

// Whether what is assigned to it is a pointer that something else has, too.
bool PointerMentions::IsOtherPointer(std::size_t value) const {
  for (; value < program_.tokens().size() && program_.Token(value) != ";" && program_.Token(value) != ","; ++value) {
    if (program_.Token(value) == "new" || IsNullWord(program_.Token(value))) return false;
    if (calls_.contains(value)) return false;
    if (program_.Token(value) == "(" && program_.Token(value - 1) != "(" && IsWord(program_.Token(value - 1))) return false;
  }
  return true;
}

bool PointerMentions::IsUse(std::size_t first, std::size_t end, bool in_own_call) const {
  const std::string_view before = first > 0 ? program_.Token(first - 1) : "", after = program_.Token(end);
  if (after == "=") return !exchanged_ && IsOtherPointer(end + 1);
  if (after == "==" || after == "!=" || before == "!") return false;
  if (IsDeclared(first)) return false;
  if (before == "&" && in_own_call) return false;
  if (before == "(" && after == ")" && program_.Token(first - 2) == "if") return false;
  if ((after == "(" || after == "{") && (before == ":" || before == ","))  // of a constructor
    return !IsNullWord(program_.Token(end + 1)) && program_.Token(end + 1) != ")" && program_.Token(end + 1) != "}";
  if (exchanged_ && before == "=") return false;
  // What a launch by cudaLaunchKernel gets.
  const SourceRange range{program_.tokens()[first].begin, program_.tokens()[end - 1].end};
  return std::none_of(launches_.begin(), launches_.end(), [&](const TakenLaunch& one) {
    return one.launch != nullptr && std::any_of(one.launch->arguments.begin(), one.launch->arguments.end(),
                                                [&](const SourceRange& argument) { return argument.Contains(range); });
  });
}

bool PointerMentions::InFunction(int index) const {
  const ProgramFunction& function = program_.functions()[static_cast<std::size_t>(index)];
  std::size_t own_until = 0;  // within the brackets of a call of the program's own function
  std::size_t at = program_.TokenAt(function.range.begin);
  // Behind the parameters.
  while (at < program_.tokens().size() && program_.Token(at) != "(" && program_.tokens()[at].begin < function.body.begin) ++at;
  if (program_.Token(at) == "(") at = program_.AfterBracket(at);
  while (at < program_.tokens().size() && program_.tokens()[at].begin < function.body.end) {
    const SourceRange token = program_.tokens()[at];
    const auto launch = std::find_if(host_.launches().begin(), host_.launches().end(),
                                     [&](const HostLaunch& one) { return one.range.begin == token.begin && IsTaken(one); });
    if (launch != host_.launches().end() && program_.Token(at + 1) != "(") {
      at = std::max(at + 1, program_.TokenAt(launch->range.end));
      continue;
    }
    if (!IsWord(program_.Token(at))) {
      ++at;
      continue;
    }
    const std::size_t first = program_.Token(at) == "this" && program_.Token(at + 1) == "->" ? at + 2 : at;
    std::size_t end = first + 1;
    while ((program_.Token(end) == "." || program_.Token(end) == "->") && IsWord(program_.Token(end + 1))) end += 2;
    if (program_.Token(end) == "(" && IsHarmlessCall(program_.Token(end - 1))) {
      at = program_.AfterBracket(end);
      continue;
    }
    if (const auto call = calls_.find(end - 1); call != calls_.end() && program_.FindFunction(call->second->name) >= 0) {
      const std::size_t close = program_.TokenAt(call->second->range.end);
      if (IsFollowed(*call->second)) {
        at = std::max(end, close);
        continue;
      }
      own_until = std::max(own_until, close);
    }
    const int owner = program_.FunctionAt(token.begin);
    if (IsPointer(first, end, owner) && IsUse(first, end, at < own_until)) return true;
    at = end;
  }
  return false;
}

}  // namespace evo
