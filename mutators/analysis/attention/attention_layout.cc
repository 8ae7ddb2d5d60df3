#include "mutators/analysis/attention/attention_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "mutators/analysis/source/source_query.h"

namespace evo {
namespace {

// The row whose indices are looked at.
constexpr std::int64_t kRowOfIndices = 3;

std::vector<AffineForm> FormsOf(const std::map<std::int64_t, ThreadTrace::Access>& elements) {
  std::vector<AffineForm> forms;
  for (const auto& [index, access] : elements) forms.push_back(access.index);
  return forms;
}

}  // namespace

bool AttentionLayout::Refuse(std::string why) {
  why_ = std::move(why);
  return false;
}

std::string AttentionLayout::NameOf(int part) const { return tree_.node(BufferOfPart(part)).name; }

std::string AttentionLayout::TypeOf(int part) const { return PointedTo(tree_, BufferOfPart(part)); }

// Takes the row out of an index: what a row moves it by becomes a stride.
bool AttentionLayout::TakeRow(int part, AffineForm& base, AffineForm& stride) {
  const auto coefficient = base.CoefficientOf(runs_.row_symbol());
  const auto by_one =
      coefficient && index_.together() ? coefficient->DividedBy(AffineForm::Constant(index_.extent)) : coefficient;
  if (!by_one) return Refuse(fmt::format("the rows of {} do not follow each other by a fixed distance", NameOf(part)));
  stride = *by_one;
  base = base.Plus(stride.TimesForm(runs_.RowForm(kRowOfIndices)), -1);
  return true;
}

// Of the first key in a window that is not full yet, `max(0, ..)`: the base of all keys, where that has the stride as its factor.
// That it is zero then is seen by two rows whose keys begin at the same element.
AffineForm AttentionLayout::WithoutWindow(int part, const AffineForm& base, const AffineForm& stride) const {
  const auto& fewer = traces_[0][0].reads.at(part);
  if (fewer.begin()->first != traces_[0][1].reads.at(part).begin()->first) return base;
  for (const int symbol : base.Symbols()) {
    const AffineForm form = AffineForm::Symbol(symbol);
    const std::string text = runs_.threads().TextOf(form);
    if (!runs_.threads().OfThread(symbol) || !text.starts_with("max(") ||
        (!text.starts_with("max(0, ") && !text.ends_with(", 0)")))
      continue;
    const auto factor = base.CoefficientOf(symbol);
    if (factor && *factor == stride) return base.Plus(stride.TimesForm(form), -1);
  }
  return base;
}

bool AttentionLayout::FindMatrix(int part, bool by_row, const Attention& found, Attention::Matrix& matrix) {
  const ThreadTrace& trace = traces_[0][1];
  const auto stored = trace.stores.find(part);
  const std::vector<AffineForm> forms = FormsOf(stored != trace.stores.end() ? stored->second : trace.reads.at(part));
  const auto depth = static_cast<std::size_t>(found.depth);
  AffineForm base = forms.front(), stride;
  if (by_row && found.own_keys) {
    stride = AffineForm::Constant(0);
  } else if (by_row) {
    if (!TakeRow(part, base, stride)) return false;
  } else {
    stride = forms[depth].Plus(base, -1);
  }
  for (std::size_t i = 0; i < forms.size(); ++i) {
    const auto j = static_cast<std::int64_t>(i / depth), d = static_cast<std::int64_t>(i % depth);
    const AffineForm expected = forms.front().Plus(stride, by_row ? 0 : j).Plus(AffineForm::Constant(d));
    if (!(expected == forms[i]))
      return Refuse(
          fmt::format("the elements of a row of {} are no neighbours, or its rows do not follow each other by a fixed distance",
                      NameOf(part)));
  }
  if (!found.window.empty() && !by_row) base = WithoutWindow(part, base, stride);
  for (const AffineForm* form : {&base, &stride}) {
    if (found.own_keys ? !bounds_.IsOfRow(*form) : !bounds_.IsOfBlock(*form))
      return Refuse(fmt::format("where {} begins depends on the thread", NameOf(part)));
  }
  matrix.parameter = BufferOfPart(part);
  matrix.base = runs_.threads().TextOf(base, true);
  matrix.stride = runs_.threads().TextOf(stride, true);
  return true;
}

// Of one element for each key.
bool AttentionLayout::FindPlane(int parameter, std::vector<AffineForm> forms, Attention::Plane& plane) {
  AffineForm base = forms.front(), row_stride, key_stride = AffineForm::Constant(0);
  if (forms.size() > 1) key_stride = forms[1].Plus(base, -1);
  for (std::size_t i = 0; i < forms.size(); ++i) {
    if (!(forms.front().Plus(key_stride, static_cast<std::int64_t>(i)) == forms[i]))
      return Refuse(fmt::format("the elements of {} do not follow each other by a fixed distance", NameOf(parameter)));
  }
  if (!TakeRow(parameter, base, row_stride)) return false;
  for (const AffineForm* form : {&base, &row_stride, &key_stride}) {
    if (!bounds_.IsOfBlock(*form)) return Refuse(fmt::format("where {} begins depends on the thread", NameOf(parameter)));
  }
  const ThreadRun& threads = runs_.threads();
  plane = {parameter, threads.TextOf(base, true), threads.TextOf(row_stride, true), threads.TextOf(key_stride, true),
           TypeOf(parameter)};
  return true;
}

bool AttentionLayout::FindTerm(const AttentionRoles& roles, Attention& found) {
  found.term.kind = roles.term.kind;
  found.term.factor = roles.term.factor;
  if (roles.term.kind == ScoreTerm::Kind::kNone) return true;
  if (found.own_keys) return Refuse("something is added to scores of a row that has keys of its own");
  if (roles.term.buffer < 0) return true;
  if (!found.window.empty()) return Refuse("its rows see a window of keys, and a buffer is added to their scores");
  const ThreadTrace& trace = traces_[0][1];
  if (!FindPlane(roles.term.buffer, FormsOf(trace.reads.at(roles.term.buffer)), found.term.plane)) return false;
  const std::string& type = found.term.plane.type;
  if (type != "float" && type != "double" && type != "__half" && type != "__nv_bfloat16")
    return Refuse(fmt::format("it adds elements of type {} to scores", type));
  if (roles.term.kind != ScoreTerm::Kind::kElement && found.term.plane.row_stride != "0")
    return Refuse(fmt::format("the element of {} depends on the row", NameOf(roles.term.buffer)));
  return true;
}

bool AttentionLayout::FindMask(const AttentionRoles& roles, Attention& found) {
  if (roles.mask < 0) return true;
  if (found.own_keys) return Refuse("it has a mask of keys, and a row has keys of its own");
  if (!found.window.empty()) return Refuse("its rows see a window of keys, and it has a mask");
  const auto loaded = traces_[0][1].loaded.find(roles.mask);
  if (loaded == traces_[0][1].loaded.end()) return Refuse("its mask is not read for each row");
  std::vector<AffineForm> forms;
  for (const auto& [index, element] : loaded->second) {
    forms.push_back(element.index);
    mask_symbols_.insert(element.symbol);
  }
  found.mask.shows_zero = roles.shows_zero;
  return FindPlane(roles.mask, std::move(forms), found.mask.plane);
}

// What is stored beside a row whose scores are all less than zero, as few are.
bool AttentionLayout::HoldsBelowZero(const AttentionRoles& roles) {
  const ThreadTrace trace = runs_.RunWithKeys(kRowOfIndices, roles, kKeysBelowZero);
  const auto scale = ScaleIn(traces_[0][1], roles, kRowOfIndices);
  return trace.refusal.empty() && scale && Computes(trace, roles, kRowOfIndices, scale);
}

bool AttentionLayout::FindStatistics(const AttentionRoles& roles, Attention& found) {
  const auto& beside = traces_[0][0].beside;
  const auto& starts = traces_[0][0].beside_starts;
  const auto same_keys = [](const auto& a, const auto& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) { return x.first == y.first; });
  };
  for (const auto& of_setting : traces_) {
    for (const ThreadTrace& trace : of_setting) {
      if (!same_keys(trace.beside, beside) || !same_keys(trace.beside_starts, starts))
        return Refuse("its rows store sums in some launches only");
    }
  }
  found.beside.started = !starts.empty();
  if (!beside.empty() && !HoldsBelowZero(roles)) return Refuse("beside its rows it stores nothing known of scores below zero");
  for (const auto& [parameter, elements] : traces_[0][1].beside) {
    if (found.own_keys || found.keyless || found.mask.plane.parameter >= 0 || !found.window.empty())
      return Refuse(
          fmt::format("it stores sums in {}, and rows may see few keys or none, or have keys of their own", NameOf(parameter)));
    const ScoreStatistic statistic = roles.beside.at(parameter);
    Attention::Plane& plane = statistic == ScoreStatistic::kLogSum    ? found.beside.sums
                              : statistic == ScoreStatistic::kLargest ? found.beside.largest
                                                                      : found.beside.weights;
    if (!FindPlane(parameter, FormsOf(elements), plane)) return false;
    if (plane.type != "float") return Refuse(fmt::format("it stores sums of type {}", plane.type));
  }
  return true;
}

bool AttentionLayout::Find(const AttentionRoles& roles, Attention& found) {
  for (const auto& [matrix, part, by_row] : {std::tuple(&found.q, roles.q, true), std::tuple(&found.k, roles.k, false),
                                             std::tuple(&found.v, roles.v, false), std::tuple(&found.o, roles.o, true)}) {
    if (!FindMatrix(part, by_row, found, *matrix)) return false;
  }
  return FindTerm(roles, found) && FindMask(roles, found) && FindStatistics(roles, found);
}

}  // namespace evo
