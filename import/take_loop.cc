// Which loops of the host around its launches a task takes over.
#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "import/draft_builder.h"
#include "import/separate_runs.h"

namespace evo {
namespace {

using Pointer = HostCode::Pointer;
using Swaps = std::vector<std::pair<Pointer, Pointer>>;

class LoopTaker {
 public:
  LoopTaker(const SourceProgram& program, HostCode& host, std::vector<TakenLaunch>& launches, std::vector<std::string>& notes)
      : program_(program), host_(host), launches_(launches), notes_(notes) {}

  std::vector<TakenLoop> Run() {
    around_.resize(launches_.size());
    for (std::size_t i = 0; i < launches_.size(); ++i) {
      if (launches_[i].launch != nullptr) around_[i] = Around(*launches_[i].launch);
    }
    // An inner loop may begin with what an outer one changes.
    for (std::size_t loop = host_.loops().size(); loop-- > 0;) {
      const bool used = std::any_of(around_.begin(), around_.end(), [&](const auto& loops) { return Has(loops, loop); });
      if (used) Take(loop);
    }
    std::reverse(taken_.begin(), taken_.end());
    for (std::size_t i = 0; i < launches_.size(); ++i) {
      for (std::size_t t = 0; t < taken_.size(); ++t) {
        if (Has(around_[i], taken_[t].loop)) launches_[i].loops.push_back(t);
      }
    }
    for (TakenLaunch& one : launches_) VisitAll(one, [](const HostExpression& part) { RefuseRest(part); });
    return std::move(taken_);
  }

 private:
  static bool Has(const std::vector<std::size_t>& loops, std::size_t loop) {
    return std::find(loops.begin(), loops.end(), loop) != loops.end();
  }

  std::vector<std::size_t> Around(const HostLaunch& launch) const {
    std::vector<std::size_t> loops;
    for (const HostCall* call : host_.PathTo(launch)) {
      for (std::size_t i = 0; i < host_.loops().size(); ++i) {
        const HostLoop& loop = host_.loops()[i];
        if (loop.function == call->function && loop.range.Contains(call->range)) loops.push_back(i);
      }
    }
    return loops;
  }

  // All expressions of a launch.
  template <typename Visit>
  static void VisitAll(TakenLaunch& one, const Visit& visit) {
    for (auto* list : {&one.template_values, &one.grid, &one.block}) {
      for (HostExpression& part : *list) visit(part);
    }
    if (one.shared) visit(*one.shared);
    for (auto& [name, value] : one.values) visit(value);
  }

  static bool Mentions(const HostExpression& expression, const std::set<std::string>& labels) {
    const auto names = expression.Names();
    return std::any_of(names.begin(), names.end(), [&](const std::string& name) { return labels.contains(name); });
  }

  void Take(std::size_t loop) {
    TakenLoop taken;
    taken.loop = loop;
    HostCode::LoopMeaning meaning = host_.MeaningOf(loop, "step");
    taken.swaps = SwapsOf(loop);
    bool depends = false;
    std::set<std::string> needed;
    const auto look = [&](const HostExpression& part) {
      depends = depends || Mentions(part, meaning.labels);
      for (std::string& name : part.Names()) {
        if (meaning.labels.contains(name)) needed.insert(std::move(name));
      }
    };
    for (std::size_t i = 0; i < launches_.size(); ++i) {
      if (Has(around_[i], loop)) VisitAll(launches_[i], look);
    }
    for (const TakenLoop& inner : taken_) {
      if (inner.count && IsWithin(inner.loop, loop)) look(*inner.count);
    }
    if (!depends && taken.swaps.empty()) return;
    if (taken.swaps.empty() && OnlyShapesLaunches(loop, meaning)) return TakeFirst(loop, meaning);
    RefuseJumps(loop);
    if (taken.swaps.empty()) RefuseCopies(program_, host_, host_.loops()[loop]);
    taken.step = StepName(meaning, depends);
    meaning = host_.MeaningOf(loop, taken.step);
    for (const std::string& label : needed) {
      if (!meaning.values.contains(label)) Refuse(loop, label);
    }
    const auto replace = [&](HostExpression& part) {
      if (!Mentions(part, meaning.labels)) return;
      part = Simplified(Replaced(part, [&](const HostExpression& name) -> std::optional<HostExpression> {
        const auto value = meaning.values.find(name.text);
        if (name.kind != HostExpression::Kind::kName || value == meaning.values.end()) return std::nullopt;
        return value->second;
      }));
    };
    for (std::size_t i = 0; i < launches_.size(); ++i) {
      if (Has(around_[i], loop)) VisitAll(launches_[i], replace);
    }
    for (TakenLoop& inner : taken_) {
      if (inner.count) replace(*inner.count);
    }
    taken.count = meaning.count;
    taken.exact = meaning.geometric || (meaning.count && meaning.count->Text().find("ceil_log") != std::string::npos);
    taken.powers = meaning.halved;
    if (Exchanges(loop)) taken.powers.insert(meaning.doubled_to.begin(), meaning.doubled_to.end());
    taken_.push_back(std::move(taken));
  }

  // Whether each iteration computes the same with other blocks, as programs do that measure which are the fastest.
  bool OnlyShapesLaunches(std::size_t loop, const HostCode::LoopMeaning& meaning) const {
    for (std::size_t i = 0; i < launches_.size(); ++i) {
      if (!Has(around_[i], loop)) continue;
      const TakenLaunch& one = launches_[i];
      const auto mentions = [&](const HostExpression& part) { return Mentions(part, meaning.labels); };
      const auto is_sum = [](const auto& use) { return use.second.atomic || (use.second.read && use.second.written); };
      if (std::any_of(one.template_values.begin(), one.template_values.end(), mentions) ||
          std::any_of(one.values.begin(), one.values.end(), [&](const auto& value) { return mentions(value.second); }) ||
          std::any_of(one.use.parameters.begin(), one.use.parameters.end(), is_sum))
        return false;
    }
    return std::none_of(taken_.begin(), taken_.end(), [&](const TakenLoop& inner) { return IsWithin(inner.loop, loop); });
  }

  // The launches as the first iteration makes them.
  void TakeFirst(std::size_t loop, const HostCode::LoopMeaning& meaning) {
    const auto is_first = [&](const HostExpression& part) -> std::optional<HostExpression> {
      const auto value = meaning.values.find(part.text);
      if (part.kind != HostExpression::Kind::kName || value == meaning.values.end()) return std::nullopt;
      return Replaced(value->second, [](const HostExpression& name) {
        return name.kind == HostExpression::Kind::kName && name.Is("step") ? std::optional(HostExpression::Integer(0))
                                                                           : std::nullopt;
      });
    };
    for (std::size_t i = 0; i < launches_.size(); ++i) {
      if (Has(around_[i], loop))
        VisitAll(launches_[i], [&](HostExpression& part) { part = Simplified(Replaced(part, is_first)); });
    }
  }

  // The condition of the `if` of the loop around a place of its body, the innermost; empty if there is none.
  std::vector<std::string_view> ConditionAround(const HostLoop& host, const SourceRange& place, bool& otherwise) const {
    std::vector<std::string_view> condition;
    for (std::size_t i = program_.TokenAt(host.body.begin); i < program_.tokens().size(); ++i) {
      if (program_.tokens()[i].begin >= place.begin) break;
      if (program_.Token(i) != "if" || program_.Token(i + 1) != "(") continue;
      const std::size_t after = program_.AfterBracket(i + 1);
      const auto end_of = [&](std::size_t first) {
        if (program_.Token(first) == "{") return program_.AfterBracket(first);
        while (first < program_.tokens().size() && program_.Token(first) != ";")
          first = program_.Token(first) == "(" || program_.Token(first) == "{" ? program_.AfterBracket(first) : first + 1;
        return first + 1;
      };
      const std::size_t end = end_of(after);
      const bool has_else = program_.Token(end) == "else";
      const std::size_t last = has_else ? end_of(end + 1) : end;
      if (last == 0 || last > program_.tokens().size() || program_.tokens()[last - 1].end < place.end) continue;
      if (place.begin < program_.tokens()[after].begin) continue;
      condition = program_.Tokens({program_.tokens()[i + 2].begin, program_.tokens()[after - 2].end});
      otherwise = has_else;
    }
    return condition;
  }

  // What leaves an iteration or the loop early would be lost.
  void RefuseJumps(std::size_t loop) {
    const HostLoop& host = host_.loops()[loop];
    const auto is_error = [](const std::vector<std::string_view>& condition) {
      return std::any_of(condition.begin(), condition.end(), [](std::string_view word) {
        return word.starts_with("cuda") || word.find("err") != word.npos || word.find("status") != word.npos;
      });
    };
    const auto is_of_steps = [&](const std::vector<std::string_view>& condition) {
      return std::any_of(condition.begin(), condition.end(), [&](std::string_view word) {
        const LoopVariable* const one = host.Find(std::string(word));
        return one != nullptr && RuleOf(one->name, one->next);
      });
    };
    const auto refuse = [&](std::string_view what, const SourceRange& place) {
      throw UsageError(
          fmt::format("{}: {} in the loop around the launches is not understood; --kernel takes one kernel, or write "
                      "the loop without it",
                      program_.PlaceOf(place.begin), what));
    };
    bool otherwise = false;
    for (std::size_t i = program_.TokenAt(host.body.begin);
         i < program_.tokens().size() && program_.tokens()[i].begin < host.body.end; ++i) {
      const std::string_view word = program_.Token(i);
      if (word == "switch" || word == "for" || word == "while") {
        const std::size_t head = program_.AfterBracket(i + 1);
        if (program_.Token(head) == "{") i = program_.AfterBracket(head) - 1;
        continue;
      }
      if (word == "do" && program_.Token(i + 1) == "{") i = program_.AfterBracket(i + 1) - 1;
      if (program_.FunctionAt(program_.tokens()[i].begin) != host.function) continue;
      if (word != "continue" && word != "break" && word != "return") continue;
      if (program_.tokens()[i].begin == host.own_break.begin && host.own_break.end > 0) continue;
      const auto condition = ConditionAround(host, program_.tokens()[i], otherwise);
      if (is_error(condition)) continue;
      // One that depends on what the kernels compute, such as on convergence.
      if (word != "continue" && !condition.empty() && !is_of_steps(condition)) {
        notes_.push_back(
            fmt::format("{}: the {} is left out: the loop runs to its end", program_.PlaceOf(program_.tokens()[i].begin), word));
        continue;
      }
      refuse(word, program_.tokens()[i]);
    }
    for (std::size_t i = 0; i < launches_.size(); ++i) {
      if (!Has(around_[i], loop)) continue;
      for (const HostCall* call : host_.PathTo(*launches_[i].launch)) {
        if (call->function != host.function || !host.body.Contains(call->range)) continue;
        const auto condition = ConditionAround(host, call->range, otherwise);
        if (!otherwise && is_of_steps(condition) && !is_error(condition)) refuse("an if around a launch", call->range);
      }
    }
  }

  bool IsWithin(std::size_t inner, std::size_t outer) const {
    return std::any_of(around_.begin(), around_.end(), [&](const auto& loops) { return Has(loops, inner) && Has(loops, outer); });
  }

  // Whether a kernel in the loop finds partners by `i ^ s`, which all have to be there.
  bool Exchanges(std::size_t loop) const {
    for (std::size_t i = 0; i < launches_.size(); ++i) {
      const auto tokens = program_.Tokens(launches_[i].kernel->body);
      if (Has(around_[i], loop) && std::find(tokens.begin(), tokens.end(), "^") != tokens.end()) return true;
    }
    return false;
  }

  // What is passed to a launch may come from another loop.
  static void RefuseRest(const HostExpression& part) {
    for (const std::string& name : part.Names()) {
      if (name.starts_with("evo_loop"))
        throw UsageError(fmt::format("a launch gets {}, which a loop that is not around it changes; --kernel takes one kernel",
                                     name.substr(name.find('_', name.find('_') + 1) + 1)));
    }
  }

  [[noreturn]] void Refuse(std::size_t loop, const std::string& label) const {
    const HostLoop& host = host_.loops()[loop];
    std::string name = label.substr(label.find('_', label.find('_') + 1) + 1);
    if (host.Find(name) == nullptr && name.ends_with("_next")) name.resize(name.size() - 5);
    throw UsageError(fmt::format(
        "{}: how {} changes in the loop around the launches is not understood; it has to be changed once in each step, as by "
        "{} *= 2, {} /= 2 or {} += 1; --kernel takes one kernel",
        program_.PlaceOf(host.range.begin), name, name, name, name));
  }

  // The variable's own name where it counts from 0, or where nobody asks for its value.
  std::string StepName(const HostCode::LoopMeaning& meaning, bool depends) const {
    std::string name = meaning.variable.empty() ? "step" : meaning.variable;
    if (!meaning.variable.empty() && depends && !meaning.plain) name += "_step";
    const auto is_taken = [&](const std::string& one) {
      return host_.leaves().contains(one) ||
             std::any_of(taken_.begin(), taken_.end(), [&](const TakenLoop& other) { return other.step == one; });
    };
    while (is_taken(name)) name += "_";
    return name;
  }

  // Pointers that change places in the loop, and in no loop inside of it.
  Swaps SwapsOf(std::size_t loop) const {
    const SourceRange range = host_.loops()[loop].body;
    const int function = host_.loops()[loop].function;
    const auto pointer = [&](const SourceRange& at) { return host_.Origin(at, function); };
    const auto is_inner = [&](const SourceRange& at) {
      return std::any_of(taken_.begin(), taken_.end(), [&](const TakenLoop& inner) {
        const HostLoop& one = host_.loops()[inner.loop];
        return inner.loop != loop && range.Contains(one.range) && one.range.Contains(at);
      });
    };
    std::vector<Pointer> passed;
    for (std::size_t l = 0; l < launches_.size(); ++l) {
      const TakenLaunch& one = launches_[l];
      for (std::size_t i = 0; Has(around_[l], loop) && i < one.launch->arguments.size(); ++i) {
        if (IsPointerType(one.types[i])) passed.push_back(host_.Origin(one.launch->arguments[i], one.launch->function));
      }
    }
    const auto is_passed = [&](const Pointer& one) { return std::find(passed.begin(), passed.end(), one) != passed.end(); };
    Swaps swaps;
    for (const HostCall& call : host_.calls()) {
      if (call.name != "swap" || call.arguments.size() != 2 || !range.Contains(call.range) || is_inner(call.range)) continue;
      const Pointer a = pointer(call.arguments[0]), b = pointer(call.arguments[1]);
      if (is_passed(a) && is_passed(b)) swaps.emplace_back(a, b);
    }
    Swaps assigned;
    for (std::size_t i = program_.TokenAt(range.begin); i + 3 < program_.tokens().size() && program_.tokens()[i].end <= range.end;
         ++i) {
      if (program_.Token(i + 1) != "=" || program_.Token(i + 3) != ";" || is_inner(program_.tokens()[i])) continue;
      assigned.emplace_back(pointer(program_.tokens()[i]), pointer(program_.tokens()[i + 2]));
    }
    // Two of an array of pointers, whose indices are exchanged.
    for (const auto& [to, from] : assigned) {
      for (const Pointer& a : passed) {
        for (const Pointer& b : passed) {
          if (!a.index.empty() && a.index == to.name && b.index == from.name && a.name == b.name) swaps.emplace_back(a, b);
        }
      }
    }
    // The other one of two: pos[cur] and pos[1 - cur], where cur = 1 - cur.
    for (const LoopVariable& variable : host_.loops()[loop].variables) {
      const std::string& name = variable.name;
      const std::vector<std::string> others = {"1 - " + name, name + " ^ 1", "!" + name, "(" + name + " + 1) % 2"};
      const auto is_other = [&](const std::string& text) {
        return std::find(others.begin(), others.end(), text) != others.end();
      };
      if (!is_other(variable.next.Text())) continue;
      for (const Pointer& a : passed) {
        for (const Pointer& b : passed) {
          if (a.index == name && is_other(b.index) && a.name == b.name) swaps.emplace_back(a, b);
        }
      }
    }
    for (const auto& [to, from] : assigned) {
      if (is_passed(to) && is_passed(from) && !(to == from)) swaps.emplace_back(to, from);
    }
    if (swaps.size() > 1) swaps.resize(1);
    return swaps;
  }

  const SourceProgram& program_;
  HostCode& host_;
  std::vector<TakenLaunch>& launches_;
  std::vector<std::string>& notes_;
  std::vector<std::vector<std::size_t>> around_;  // loops of the host around each launch, the outermost first
  std::vector<TakenLoop> taken_;
};

}  // namespace

std::vector<TakenLoop> TakeLoops(const SourceProgram& program, HostCode& host, std::vector<TakenLaunch>& launches,
                                 std::vector<std::string>& notes) {
  return LoopTaker(program, host, launches, notes).Run();
}

}  // namespace evo
