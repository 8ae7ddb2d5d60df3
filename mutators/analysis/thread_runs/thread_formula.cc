#include "mutators/analysis/thread_runs/thread_formula.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

namespace evo {
namespace {

using Kind = ThreadFormula::Kind;

struct FormulaRank {
  std::string_view type;
  int rank = 0;  // by which the usual conversions choose; those below that of int become int
};
constexpr int kRankOfInt = 3;
constexpr std::array kFormulaRanks{
    FormulaRank{"bool", 0},          FormulaRank{"char", 1},         FormulaRank{"signed char", 1},
    FormulaRank{"unsigned char", 1}, FormulaRank{"short", 2},        FormulaRank{"unsigned short", 2},
    FormulaRank{"int", kRankOfInt},  FormulaRank{"unsigned int", 4}, FormulaRank{"long", 5},
    FormulaRank{"unsigned long", 6}, FormulaRank{"long long", 7},    FormulaRank{"unsigned long long", 8},
    FormulaRank{"float", 9},         FormulaRank{"double", 10}};
constexpr int kRankOfFloat = 9;

// -1 for other types.
int RankOf(std::string_view type) {
  const auto* const known =
      std::find_if(kFormulaRanks.begin(), kFormulaRanks.end(), [&](const FormulaRank& one) { return one.type == type; });
  return known == kFormulaRanks.end() ? -1 : known->rank;
}

// Whether a number of the first type stays the same in the second one and back.
bool IsLossless(const std::string& type, const std::string& through) {
  const bool wider = RankOf(through) >= RankOf(type);
  return wider && (RankOf(type) >= kRankOfFloat || RankOf(through) < kRankOfFloat);
}

std::string Promoted(const std::string& type) { return RankOf(type) < kRankOfInt ? "int" : type; }

// Of the usual arithmetic conversions; empty if one is no number.
std::string UsualType(const std::string& a, const std::string& b) {
  if (RankOf(a) < 0 || RankOf(b) < 0) return "";
  const std::string left = Promoted(a), right = Promoted(b);
  return RankOf(left) < RankOf(right) ? right : left;
}

FormulaPointer SharedFormula(ThreadFormula formula) {
  for (const FormulaPointer& part : formula.parts) {
    if (!part) return nullptr;
    formula.size += part->size;
    formula.known &= part->known;
  }
  if (formula.size > ThreadFormula::kMostParts) return nullptr;
  auto* const shared = new ThreadFormula;
  FormulaPointer result(shared);
  shared->kind = formula.kind;
  shared->type = std::move(formula.type);
  shared->spelled = std::move(formula.spelled);
  shared->memory = formula.memory;
  shared->index = formula.index;
  shared->parts = std::move(formula.parts);
  shared->size = formula.size;
  shared->known = formula.known;
  return result;
}

ThreadFormula MadeFormula(Kind kind, std::string type, std::string spelled, std::vector<FormulaPointer> parts = {}) {
  ThreadFormula formula;
  formula.kind = kind;
  formula.type = std::move(type);
  formula.spelled = std::move(spelled);
  formula.parts = std::move(parts);
  return formula;
}

bool IsZeroLiteral(std::string_view spelled) {
  return spelled.find('0') != std::string_view::npos && spelled.find_first_not_of("0.fFuUlL") == std::string_view::npos;
}

// A literal zero of a type; all are spelled alike, so that formulas are the same if one was converted.
std::string ZeroOf(std::string_view type) { return type == "float" ? "0.0f" : type == "double" ? "0.0" : "0"; }

}  // namespace

FormulaPointer FormulaElement(std::string type, int memory, std::int64_t index) {
  ThreadFormula formula = MadeFormula(Kind::kElement, std::move(type), "");
  formula.memory = memory;
  formula.index = index;
  formula.known = false;
  return SharedFormula(std::move(formula));
}

FormulaPointer FormulaLeaf(std::string type, std::string spelled, bool known) {
  if (known && IsZeroLiteral(spelled)) spelled = ZeroOf(type);
  ThreadFormula formula = MadeFormula(Kind::kLeaf, std::move(type), std::move(spelled));
  formula.known = known;
  return SharedFormula(std::move(formula));
}

FormulaPointer FormulaInteger(const std::string& type, std::int64_t value) {
  if (type == "bool") return FormulaLeaf(type, value != 0 ? "true" : "false", true);
  const std::string number = value < 0 ? fmt::format("({})", value) : fmt::format("{}", value);
  const FormulaPointer plain = FormulaLeaf("int", number, true);
  if (type == "int" && value == static_cast<std::int32_t>(value)) return plain;
  if (type == "unsigned int" && value >= 0 && value <= 0xffffffff) return FormulaLeaf(type, number + "u", true);
  return FormulaCast(FormulaLeaf("long long", value < 0 ? fmt::format("({}ll)", value) : number + "ll", true), type);
}

FormulaPointer FormulaOperator(std::string_view spelled, FormulaPointer left, FormulaPointer right) {
  if (!left || !right) return nullptr;
  std::string type = UsualType(left->type, right->type);
  if (type.empty()) return nullptr;
  constexpr std::array<std::string_view, 8> kLogical{"<", ">", "<=", ">=", "==", "!=", "&&", "||"};
  constexpr std::array<std::string_view, 6> kOfIntegers{"%", "&", "|", "^", "<<", ">>"};
  if (std::find(kOfIntegers.begin(), kOfIntegers.end(), spelled) != kOfIntegers.end() && RankOf(type) >= kRankOfFloat)
    return nullptr;
  // What is divided under a condition may be divided before it is known to hold: by a number that is not 0, if it is an integer.
  if ((spelled == "/" || spelled == "%") && RankOf(type) < kRankOfFloat && !right->known) return nullptr;
  if (spelled == "<<" || spelled == ">>") type = Promoted(left->type);
  if (std::find(kLogical.begin(), kLogical.end(), spelled) != kLogical.end()) type = "bool";
  return SharedFormula(MadeFormula(Kind::kOperator, std::move(type), std::string(spelled), {std::move(left), std::move(right)}));
}

FormulaPointer FormulaUnary(char spelled, FormulaPointer of) {
  if (!of || RankOf(of->type) < 0 || (spelled == '~' && RankOf(of->type) >= kRankOfFloat)) return nullptr;
  std::string type = spelled == '!' ? "bool" : Promoted(of->type);
  if (spelled == '+') return FormulaCast(std::move(of), type);
  return SharedFormula(MadeFormula(Kind::kOperator, std::move(type), std::string(1, spelled), {std::move(of)}));
}

FormulaPointer FormulaCall(std::string type, std::string_view function, std::vector<FormulaPointer> arguments) {
  return SharedFormula(MadeFormula(Kind::kCall, std::move(type), std::string(function), std::move(arguments)));
}

FormulaPointer FormulaCast(FormulaPointer of, const std::string& type) {
  if (!of || of->type == type) return of;
  if (!IsFormulaType(type) || !IsFormulaType(of->type)) return nullptr;
  if (of->kind == Kind::kCast && of->parts.front()->type == type && IsLossless(type, of->type)) return of->parts.front();
  if (of->kind == Kind::kLeaf && of->known && IsZeroLiteral(of->spelled)) return FormulaLeaf(type, ZeroOf(type), true);
  return SharedFormula(MadeFormula(Kind::kCast, type, "", {std::move(of)}));
}

FormulaPointer FormulaChoice(FormulaPointer condition, FormulaPointer holds, FormulaPointer fails) {
  if (!condition || !holds || !fails) return nullptr;
  const std::string type = holds->type == fails->type ? holds->type : UsualType(holds->type, fails->type);
  if (type.empty()) return nullptr;
  return SharedFormula(MadeFormula(Kind::kChoice, type, "", {std::move(condition), std::move(holds), std::move(fails)}));
}

FormulaPointer FormulaWith(const ThreadFormula& formula, std::vector<FormulaPointer> parts) {
  switch (formula.kind) {
    case Kind::kOperator:
      if (parts.size() == 1) return FormulaUnary(formula.spelled.front(), std::move(parts[0]));
      return FormulaOperator(formula.spelled, std::move(parts[0]), std::move(parts[1]));
    case Kind::kCall:
      return FormulaCall(formula.type, formula.spelled, std::move(parts));
    case Kind::kCast:
      return FormulaCast(std::move(parts[0]), formula.type);
    case Kind::kChoice:
      return FormulaChoice(std::move(parts[0]), std::move(parts[1]), std::move(parts[2]));
    default:
      return SharedFormula(ThreadFormula(formula));
  }
}

bool AreSameFormulas(const ThreadFormula& a, const ThreadFormula& b) {
  if (&a == &b) return true;
  const bool alike = a.kind == b.kind && a.size == b.size && a.memory == b.memory && a.index == b.index && a.type == b.type &&
                     a.spelled == b.spelled && a.parts.size() == b.parts.size();
  return alike &&
         std::equal(a.parts.begin(), a.parts.end(), b.parts.begin(),
                    [](const FormulaPointer& one, const FormulaPointer& other) { return AreSameFormulas(*one, *other); });
}

bool IsFormulaType(std::string_view type) { return RankOf(type) >= 0; }

std::string FormulaText(const ThreadFormula& formula, const std::function<std::string(const ThreadFormula&)>& other) {
  if (std::string text = other(formula); !text.empty()) return text;
  const auto part = [&](std::size_t i) { return FormulaText(*formula.parts[i], other); };
  switch (formula.kind) {
    case Kind::kOperator:
      if (formula.parts.size() == 1) return fmt::format("({}{})", formula.spelled, part(0));
      return fmt::format("({} {} {})", part(0), formula.spelled, part(1));
    case Kind::kCall: {
      std::vector<std::string> arguments;
      for (std::size_t i = 0; i < formula.parts.size(); ++i) arguments.push_back(part(i));
      return fmt::format("{}({})", formula.spelled, fmt::join(arguments, ", "));
    }
    case Kind::kCast:
      return formula.type.find(' ') == std::string::npos ? fmt::format("{}({})", formula.type, part(0))
                                                         : fmt::format("static_cast<{}>({})", formula.type, part(0));
    case Kind::kChoice:
      return fmt::format("({} ? {} : {})", part(0), part(1), part(2));
    default:
      return formula.spelled;
  }
}

}  // namespace evo
