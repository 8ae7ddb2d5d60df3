#include "mutators/analysis/rows/row_candidates.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <optional>
#include <utility>

#include "kernel_templates/brought_parameters.h"
#include "mutators/analysis/source/constant_value.h"
#include "mutators/analysis/source/source_query.h"

namespace evo {
namespace {

constexpr std::size_t kMostSmallNumbers = 6;
// A number that is added to a variance or the like.
constexpr double kLargestSmallNumber = 0.1;
constexpr std::size_t kMostInputs = 4;
// What a size may be: a part of the layout, nothing, or the number of rows and that of elements.
constexpr std::size_t kRolesOfSizes = 5;

std::int64_t ProductWith(const std::vector<std::string>& names, const LaunchRuns::Sizes& sizes) {
  std::int64_t product = 1;
  for (const std::string& name : names) product *= sizes.at(name);
  return product;
}

std::string ProductText(const std::vector<std::string>& names) {
  return names.empty() ? "1" : fmt::format("{}", fmt::join(names, " * "));
}

class CandidateFinder {
 public:
  CandidateFinder(const MutationContext& context, const std::vector<SourceRuns::Link>& links, const RowsSeen& seen)
      : context_(context), tree_(context.tree), links_(links), seen_(seen) {
    FindNumbers();
  }

  std::vector<RowCandidates> Find() {
    std::vector<RowCandidates> all;
    if (seen_.inputs.empty() || seen_.inputs.size() > kMostInputs || seen_.outputs.empty() || seen_.labels.size() > 1) return all;
    std::vector<std::string> names;
    for (const auto& [name, value] : seen_.sizes) names.push_back(name);
    std::size_t ways = 1;
    for (std::size_t i = 0; i < names.size(); ++i) ways *= kRolesOfSizes;
    for (std::size_t way = 0; way < ways; ++way) {
      RowCandidates layout;
      std::vector<std::string>* const parts[] = {&layout.outer, &layout.length, &layout.inner};
      std::size_t rest = way;
      for (const std::string& name : names) {
        const std::size_t role = rest % kRolesOfSizes;
        if (role < std::size(parts)) parts[role]->push_back(name);
        // As many rows as elements.
        if (role == kRolesOfSizes - 1) layout.outer.push_back(name), layout.length.push_back(name);
        rest /= kRolesOfSizes;
      }
      for (const auto& [x, elements] : seen_.inputs) AddLayout(layout, x, elements, all);
    }
    const auto sizes = [](const RowCandidates& one) { return one.outer.size() + one.length.size() + 2 * one.inner.size(); };
    std::stable_sort(all.begin(), all.end(), [&](const auto& a, const auto& b) { return sizes(a) < sizes(b); });
    return all;
  }

 private:
  // Small real numbers of the code and of launch lines, and others that launch lines pass.
  void FindNumbers() {
    for (const SourceRuns::Link& link : links_) {
      for (const auto& [parameter, argument] : link.reals) {
        const SyntaxNode& node = tree_.node(parameter);
        const auto same = [&](const RowKernelText::Passed& one) { return one.argument == ArgumentOf(link, parameter); };
        if (std::none_of(passed_.begin(), passed_.end(), same))
          passed_.push_back({"float", fmt::format("{}_", node.name), ArgumentOf(link, parameter)});
      }
    }
    std::set<std::string> seen;
    for (const RowKernelText::Passed& one : passed_) small_.push_back(one.name);
    const std::string& code = CodeOf(tree_);
    for (const SourceRange& range : Tokenize(code)) {
      const std::string token(code.substr(range.begin, range.size()));
      if (small_.size() >= kMostSmallNumbers || !seen.insert(token).second) continue;
      if (std::isalnum(static_cast<unsigned char>(token.front())) == 0 && token.front() != '.' && token.front() != '_') continue;
      const auto number = RealConstant(tree_, token);
      if (number && *number > 0 && *number < kLargestSmallNumber) small_.push_back(token);
    }
  }

  std::string ArgumentOf(const SourceRuns::Link& link, int parameter) const {
    std::size_t place = 0;
    for (const int child : tree_.node(link.kernel).children) {
      if (tree_.node(child).kind_name != "ParmDecl") continue;
      if (child == parameter) return link.launch->arguments.at(place);
      ++place;
    }
    return "";
  }

  void AddLayout(const RowCandidates& layout, const std::string& x, std::int64_t elements, std::vector<RowCandidates>& all) {
    RowCandidates found = layout;
    const std::int64_t others = ProductWith(layout.outer, seen_.sizes) * ProductWith(layout.inner, seen_.sizes);
    if (layout.outer.empty() && layout.inner.empty() && !MayBeOneRow(elements)) return;
    if (layout.length.empty()) {
      if (elements % others != 0 || elements / others < 2) return;
      found.constant_length = elements / others;
    }
    length_ = found.LengthWith(seen_.sizes), rows_ = others;
    if (length_ * rows_ != elements) return;
    RowKernelText text;
    text.outer = ProductText(layout.outer);
    text.length = layout.length.empty() ? std::to_string(length_) : ProductText(layout.length);
    text.inner = layout.inner.empty() ? "" : ProductText(layout.inner);
    text.x = BufferNamed(x);
    std::vector<std::string> vectors;
    for (const auto& [input, count] : seen_.inputs) {
      if (input == x) continue;
      if (count == elements && text.second.name.empty())
        text.second = BufferNamed(input);
      else if (count == length_)
        vectors.push_back(input);
      else
        return;
    }
    if (vectors.size() > 2) return;
    if (!seen_.labels.empty()) text.labels = BufferNamed(seen_.labels.front());
    for (const auto& [output, count] : seen_.outputs) {
      auto candidates = CandidatesFor(text, output, count, vectors);
      if (candidates.empty()) return;
      found.of_outputs.push_back(std::move(candidates));
    }
    found.exponential = ContainsWord("exp");
    all.push_back(std::move(found));
  }

  // One row is a sum of a whole array, if no output has elements of its own.
  bool MayBeOneRow(std::int64_t elements) const {
    const auto fits = [&](const auto& output) { return output.second == elements || output.second == 1; };
    const auto has_all = [&](const auto& output) { return output.second == elements; };
    return seen_.sizes.size() <= 1 && elements > 1 && std::all_of(seen_.outputs.begin(), seen_.outputs.end(), fits) &&
           std::any_of(seen_.outputs.begin(), seen_.outputs.end(), has_all);
  }

  RowKernelText::Buffer BufferNamed(const std::string& name) const { return {name, seen_.types.at(name)}; }
  bool ContainsWord(const char* word) const { return CodeOf(tree_).find(word) != std::string::npos; }

  std::vector<RowKernelText> CandidatesFor(const RowKernelText& layout, const std::string& output, std::int64_t count,
                                           const std::vector<std::string>& vectors) const {
    const bool of_elements = count == length_ * rows_, of_rows = count == rows_,
               of_all = count == 1 && seen_.filled.contains(output);
    const std::string& type = seen_.types.at(output);
    const bool integers = type == "int" || type == "long" || type == "long long";
    RowFormsWanted wanted{ContainsWord("exp"),         ContainsWord("log"),         ContainsWord("sqrt") || ContainsWord("pow"),
                          !layout.second.name.empty(), !layout.labels.name.empty(), integers};
    std::vector<RowKernelText> candidates;
    for (const RowForm& form : RowFormsFor(wanted)) {
      if ((form.text == "place") != integers) continue;
      if (form.of_element ? !of_elements : !of_rows && !of_all) continue;
      RowKernelText one = layout;
      one.stored = {{BufferNamed(output), form, false, ""}};
      const bool uses_second = ContainsName(form.text, "A") || ContainsName(form.text, "dots") ||
                               ContainsName(form.text, "distances") || ContainsName(form.text, "differences");
      for (RowKernelText& with : WithElements(one, uses_second)) {
        for (RowKernelText& numbered : WithNumbers(with)) AddStored(numbered, of_rows, of_all, vectors, candidates);
      }
    }
    return candidates;
  }

  // With what an element may be before all else.
  std::vector<RowKernelText> WithElements(const RowKernelText& form, bool uses_second) const {
    std::vector<RowKernelText> all;
    if (form.second.name.empty() || uses_second) {
      all.push_back(form);
    } else {
      all.push_back(form);
      all.back().element = "X + A";
    }
    const std::string& text = form.stored.front().form.text;
    if (text.find("exp") == std::string::npos && text.find("log") == std::string::npos) return all;
    RowKernelText causal = form;
    causal.element = "J <= ROW % length_ ? X : -INFINITY";
    if (form.inner.empty() && form.second.name.empty()) all.push_back(causal);
    for (const RowKernelText::Passed& one : passed_) {
      for (const char* by : {"*", "/"}) {
        for (const bool of_causal : {false, true}) {
          RowKernelText scaled = of_causal ? causal : form;
          if (of_causal && (!form.inner.empty() || !form.second.name.empty())) continue;
          scaled.element = of_causal ? fmt::format("J <= ROW % length_ ? X {} {} : -INFINITY", by, one.name)
                                     : fmt::format("X {} {}", by, one.name);
          scaled.passed = {one};
          all.push_back(scaled);
        }
      }
    }
    return all;
  }

  // With each number that may stand for E and P.
  std::vector<RowKernelText> WithNumbers(const RowKernelText& form) const {
    const std::string& text = form.stored.front().form.text;
    std::vector<RowKernelText> all{form};
    const auto with_each = [&](const std::vector<std::string>& numbers, std::string RowKernelText::*member) {
      std::vector<RowKernelText> more;
      for (const RowKernelText& one : all) {
        for (const std::string& number : numbers) {
          more.push_back(one);
          more.back().*member = number;
          const auto passed =
              std::find_if(passed_.begin(), passed_.end(), [&](const auto& other) { return other.name == number; });
          const auto is_same = [&](const auto& other) { return other.name == number; };
          if (passed != passed_.end() && std::none_of(one.passed.begin(), one.passed.end(), is_same))
            more.back().passed.push_back(*passed);
        }
      }
      all = std::move(more);
    };
    std::vector<std::string> names;
    for (const RowKernelText::Passed& one : passed_) names.push_back(one.name);
    if (ContainsName(text, "E")) with_each(small_, &RowKernelText::small);
    if (ContainsName(text, "P")) with_each(names, &RowKernelText::number);
    return all;
  }

  void AddStored(const RowKernelText& form, bool of_rows, bool of_all, const std::vector<std::string>& vectors,
                 std::vector<RowKernelText>& candidates) const {
    if (!form.stored.front().form.of_element) {
      std::vector<RowKernelText> guarded{form};
      if (!form.labels.name.empty()) {
        guarded.push_back(form);
        guarded.back().guard = "label >= 0 && label < length_";
        guarded.push_back(form);
        guarded.back().guard = "label >= 0";
      }
      for (RowKernelText& one : guarded) {
        if (of_rows) candidates.push_back(one);
        if (!of_all) continue;
        one.stored.front().adds = true;
        candidates.push_back(one);
        one.stored.front().times = "(1.0f / (float)rows_)";
        candidates.push_back(one);
      }
      return;
    }
    if (vectors.empty() || form.stored.front().form.text == "X") {
      candidates.push_back(form);
      if (form.stored.front().form.text.find("sqrtf") != std::string::npos) AddScaled(form, candidates);
    } else if (vectors.size() == 1) {
      candidates.insert(candidates.end(), 2, form);
      (candidates.end() - 2)->scale = BufferNamed(vectors.front());
      candidates.back().shift = BufferNamed(vectors.front());
    } else {
      for (const std::size_t first : {0u, 1u}) {
        candidates.push_back(form);
        candidates.back().scale = BufferNamed(vectors[first]);
        candidates.back().shift = BufferNamed(vectors[1 - first]);
      }
    }
  }

  // A norm times one number, perhaps with another one added: gamma and beta that are the same for all elements.
  void AddScaled(const RowKernelText& form, std::vector<RowKernelText>& candidates) const {
    const auto is_used = [&](const RowKernelText::Passed& number) {
      return std::any_of(form.passed.begin(), form.passed.end(), [&](const auto& one) { return one.name == number.name; });
    };
    for (const RowKernelText::Passed& scale : passed_) {
      if (is_used(scale)) continue;
      candidates.push_back(form);
      candidates.back().passed.push_back(scale);
      candidates.back().stored.front().times = scale.name;
      const RowKernelText scaled = candidates.back();
      for (const RowKernelText::Passed& shift : passed_) {
        if (is_used(shift) || shift.name == scale.name) continue;
        candidates.push_back(scaled);
        candidates.back().passed.push_back(shift);
        candidates.back().stored.front().plus = shift.name;
      }
    }
  }

  const MutationContext& context_;
  const SyntaxTree& tree_;
  const std::vector<SourceRuns::Link>& links_;
  const RowsSeen& seen_;
  std::vector<RowKernelText::Passed> passed_;
  std::vector<std::string> small_;
  std::int64_t length_ = 0, rows_ = 0;
};

}  // namespace

bool RowCandidates::Names(const std::string& size) const {
  const auto has = [&](const std::vector<std::string>& names) {
    return std::find(names.begin(), names.end(), size) != names.end();
  };
  return has(outer) || has(length) || has(inner);
}

std::int64_t RowCandidates::LengthWith(const LaunchRuns::Sizes& sizes) const {
  return constant_length > 0 ? constant_length : ProductWith(length, sizes);
}

std::vector<RowCandidates> RowCandidatesIn(const MutationContext& context, const std::vector<SourceRuns::Link>& links,
                                           const RowsSeen& seen) {
  return CandidateFinder(context, links, seen).Find();
}

}  // namespace evo
