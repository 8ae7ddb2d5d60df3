#include "mutators/analysis/scans/scan_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "kernel_templates/brought_parameters.h"
#include "mutators/analysis/numbers/fingerprint.h"
#include "mutators/analysis/scans/part_scan.h"

namespace evo {

using namespace std::string_view_literals;

namespace {

// A number in a source that is larger may be one of elements which no run had.
constexpr std::int64_t kMostOfNumbers = 2048;

bool IsStoredInto(const GridCell& cell) { return cell.write.launch >= 0; }

// Whether the first element of a buffer is the only one that was stored.
bool HasOneElement(const GridMemory& buffer) {
  return !buffer.cells.empty() && IsStoredInto(buffer.cells.front()) &&
         std::none_of(buffer.cells.begin() + 1, buffer.cells.end(), IsStoredInto);
}

// Whether two buffers hold the same, all of which was stored.
bool HoldSame(const GridMemory& one, const GridMemory& other) {
  const auto same = [](const GridCell& a, const GridCell& b) {
    return IsStoredInto(a) && IsStoredInto(b) && a.known != Knowledge::kUnknown && b.known != Knowledge::kUnknown &&
           a.number == b.number;
  };
  return one.type == other.type && std::equal(one.cells.begin(), one.cells.end(), other.cells.begin(), other.cells.end(), same);
}

}  // namespace

bool HasLargeNumbers(std::string_view code) {
  for (std::size_t at = 0; at < code.size(); ++at) {
    const auto is_of_word = [&](std::size_t place) {
      return place < code.size() && (std::isalnum(static_cast<unsigned char>(code[place])) != 0 || code[place] == '_');
    };
    if (!is_of_word(at)) continue;
    std::size_t end = at;
    while (is_of_word(end)) ++end;
    const bool hexadecimal = code.substr(at, 2) == "0x" || code.substr(at, 2) == "0X";
    const char* const first = code.data() + at + (hexadecimal ? 2 : 0);
    std::int64_t number = 0;
    const auto [stop, error] = std::from_chars(first, code.data() + end, number, hexadecimal ? 16 : 10);
    const bool is_number = std::isdigit(static_cast<unsigned char>(code[at])) != 0 && stop != first;
    if (is_number && (error != std::errc{} || number > kMostOfNumbers)) return true;
    at = end;
  }
  return false;
}

bool ScanRuns::Refuse(std::string why) {
  why_ = std::move(why);
  return false;
}

Variables ScanRuns::VariablesOf(const Parameters& parameters, std::int64_t elements) const {
  Variables variables = ToVariables(parameters);
  for (const auto& [name, value] : found_.other_sizes) variables[name] = Number::Integer(value);
  variables[found_.size] = Number::Integer(elements);
  return variables;
}

std::int64_t ScanRuns::ThreadsOf(const Parameters& parameters) const {
  std::int64_t threads = 1;
  const Variables variables = VariablesOf(parameters, kFewScanned);
  for (const LaunchDirective* launch : launches_) {
    try {
      threads = std::max(threads, launch->block[0].EvaluateInteger(variables));
    } catch (const Error&) {
      continue;
    }
  }
  return threads;
}

// Two rounds and a part of one.
std::int64_t ScanRuns::RoundsOf(const Parameters& parameters) const {
  const std::int64_t threads = ThreadsOf(parameters);
  return found_.multiple * (threads * (2 * threads + 1) + 3);
}

std::int64_t ScanRuns::TileOf(const Parameters& parameters) const {
  // A single block has several rounds of as many elements.
  constexpr std::int64_t kMostOfTile = 1 << 12;
  const auto blocks_with = [&](std::int64_t elements) {
    const Variables variables = VariablesOf(parameters, elements);
    std::int64_t most = 1;
    for (const LaunchDirective* launch : launches_) {
      try {
        std::int64_t blocks = 1;
        for (const Expression& extent : launch->grid) blocks *= extent.EvaluateInteger(variables);
        most = std::max(most, blocks);
      } catch (const Error&) {
        continue;
      }
    }
    return most;
  };
  const std::int64_t least = blocks_with(1);
  std::int64_t within = 1, beyond = kMostOfTile + 1;
  if (blocks_with(kMostOfTile) == least) return kMostOfTile;
  while (beyond - within > 1) {
    const std::int64_t middle = within + (beyond - within) / 2;
    (blocks_with(middle) == least ? within : beyond) = middle;
  }
  return within;
}

std::vector<std::int64_t> ScanRuns::Elements(const Parameters& parameters, std::int64_t most, std::int64_t most_of_tiles) const {
  const std::int64_t threads = ThreadsOf(parameters);
  std::vector<std::int64_t> numbers{1, threads + 1, 3 * threads + 5, 2100 / found_.multiple};
  for (std::int64_t& number : numbers) number *= found_.multiple;
  if (HasRounds(parameters, most)) numbers.push_back(RoundsOf(parameters));
  // A thread may take several elements.
  const std::int64_t tiles = 3 * TileOf(parameters) + 5;
  const bool tried = std::any_of(numbers.begin(), numbers.end(), [&](std::int64_t number) { return number >= tiles; });
  if (!tried && tiles <= most_of_tiles) numbers.push_back((tiles + found_.multiple - 1) / found_.multiple * found_.multiple);
  return numbers;
}

bool ScanRuns::IsScan(const Parameters& parameters, std::int64_t elements) {
  bool has_tickets = false;
  GridSetting setting{parameters, found_.size, elements, parameters == present_};
  setting.parameters.insert(found_.other_sizes.begin(), found_.other_sizes.end());
  setting.axes = true;
  if (!IsScanIn(setting, has_tickets)) return false;
  GridSetting reversed = setting;
  reversed.reversed = true;
  return !has_tickets || IsScanIn(reversed, has_tickets);
}

bool ScanRuns::IsScanIn(const GridSetting& setting, bool& has_tickets) {
  const std::int64_t elements = setting.elements;
  const GridTrace trace = run_.Run(setting);
  has_tickets = trace.has_tickets;
  names_.insert(trace.names.begin(), trace.names.end());
  for (const auto& [name, value] : found_.other_sizes) names_.erase(name);
  if (!trace.refusal.empty()) {
    // A block of as many threads as there are elements leaves the others.
    left_elements_ = trace.refusal.ends_with(" threads");
    return Refuse(trace.refusal);
  }
  std::vector<const GridMemory*> outputs;
  for (const GridMemory& buffer : trace.buffers) {
    if (!buffer.workspace && std::any_of(buffer.cells.begin(), buffer.cells.end(), IsStoredInto)) outputs.push_back(&buffer);
  }
  // How many there are of what the sums are the places.
  if (const bool first = found_.input.empty(); first ? elements > 1 && outputs.size() == 2 : !found_.total_to.empty()) {
    const auto is_total = [&](const GridMemory* one) { return HasOneElement(*one) && (first || one->name == found_.total_to); };
    const auto total = std::find_if(outputs.begin(), outputs.end(), is_total);
    if (total == outputs.end() && !first) return Refuse(fmt::format("{} is not the sum of all", found_.total_to));
    found_.total_to = total == outputs.end() ? "" : (*total)->name;
    if (total != outputs.end()) outputs.erase(total);
  }
  if (outputs.size() > 2 || (outputs.size() == 2 && !HoldSame(*outputs[0], *outputs[1])))
    return Refuse(fmt::format("it stores into {} and {}, and both are results", outputs[0]->name, outputs[1]->name));
  // Each step of a loop may copy the result to where the next one reads it.
  if (outputs.size() == 2) {
    if (found_.input.empty() ? outputs[0]->fingerprints >= 0 : outputs[0]->name == found_.also) std::swap(outputs[0], outputs[1]);
    if (found_.input.empty()) found_.also = outputs[1]->name;
  }
  if (!found_.input.empty() && !outputs.empty() && found_.also != (outputs.size() == 2 ? outputs[1]->name : ""))
    return Refuse("it stores into another array at times");
  const GridMemory* const output = outputs.empty() ? nullptr : outputs[0];
  // In place, one element stays as it is.
  if (output == nullptr && elements == 1 && found_.input == found_.output && !found_.input.empty() && !found_.exclusive &&
      found_.total_to.empty())
    return true;
  if (output == nullptr) return Refuse("it stores nothing");
  constexpr std::array kShort{"float"sv, "int"sv, "unsigned int"sv};
  constexpr std::array kLong{"double"sv, "long"sv, "unsigned long"sv, "long long"sv, "unsigned long long"sv};
  found_.long_elements = std::find(kLong.begin(), kLong.end(), output->type) != kLong.end();
  if (!found_.long_elements && std::find(kShort.begin(), kShort.end(), output->type) == kShort.end())
    return Refuse(
        fmt::format("its elements are of {}, and only float, double and integers of 4 or 8 bytes are understood", output->type));
  if (!found_.input.empty())
    return output->name == found_.output ? IsScanOf(trace, *output) : Refuse("it stores into another array at times");
  const auto is_other = [&](const GridMemory& one) { return one.fingerprints >= 0 && one.name != output->name; };
  const auto has_same_type = [&](const GridMemory& one) { return is_other(one) && AreSummedAs(one.type, output->type); };
  const auto other = std::find_if(trace.buffers.begin(), trace.buffers.end(), is_other);
  if (other != trace.buffers.end() && std::none_of(trace.buffers.begin(), trace.buffers.end(), has_same_type))
    return Refuse(fmt::format("{} has elements of {}, and {} of {}", output->name, output->type, other->name, other->type));
  std::string first;
  std::size_t furthest = 0;
  for (const GridMemory& buffer : trace.buffers) {
    if (buffer.fingerprints < 0 || !AreSummedAs(buffer.type, output->type) || buffer.name == found_.total_to) continue;
    found_.input = buffer.name;
    found_.input_type = buffer.type == output->type ? "" : buffer.type;
    found_.output = output->name;
    found_.type = output->type;
    found_.total = output->HasOneMore(true);
    for (const bool exclusive : {false, true}) {
      found_.exclusive = exclusive;
      if (IsScanOf(trace, *output)) return true;
      if (first.empty() || right_ > furthest) first = why_;
      furthest = std::max(furthest, right_);
    }
  }
  return Refuse(first);
}

bool ScanRuns::IsScanOf(const GridTrace& trace, const GridMemory& output) {
  const auto is_input = [&](const GridMemory& one) { return one.name == found_.input; };
  const GridMemory& input = *std::find_if(trace.buffers.begin(), trace.buffers.end(), is_input);
  if (input.HasOneMore(false)) return Refuse(fmt::format("it reads outside of {}", input.name));
  if (found_.total != output.HasOneMore(true)) return Refuse("it stores one element more for some numbers of elements only");
  std::uint64_t sum = 0;
  const auto left = [](const GridCell& cell) { return cell.write.launch < 0; };
  left_elements_ = &input != &output && std::any_of(output.cells.begin(), output.cells.end(), left);
  right_ = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(output.elements); ++i) {
    const GridCell& cell = output.cells[i];
    const std::string place = fmt::format("of {} elements, {}[{}]", output.elements, output.name, i);
    if (cell.write.launch < 0 && &input != &output) return Refuse(place + " is not stored");
    if (cell.known == Knowledge::kUnknown)
      return Refuse(place + " is not understood" + (trace.unknown.empty() ? "" : ": " + trace.unknown));
    const std::uint64_t element = FingerprintOf(input.fingerprints + static_cast<std::int64_t>(i));
    const auto number = static_cast<std::uint64_t>(cell.number);
    if (number != (found_.exclusive ? sum : sum + element)) return Refuse(place + " is no prefix sum");
    // An input that is not read to its end may end earlier. Without an element's own, nothing depends on the last.
    const bool unread = i >= input.cells.size() || input.cells[i].read.launch < 0;
    if (unread && (!found_.exclusive || found_.total || i + 1 < static_cast<std::size_t>(output.elements)))
      return Refuse(fmt::format("it does not read all of {}", input.name));
    found_.last_unread = found_.last_unread || unread;
    sum += element;
    ++right_;
  }
  if (!found_.total_to.empty() && !IsTotal(trace, output.type, sum))
    return Refuse(fmt::format("{} is not the sum of all", found_.total_to));
  if (!found_.total) return true;
  if (!found_.total_to.empty()) return Refuse("it stores the sum of all twice");
  if (!found_.also.empty()) return Refuse("it stores one element more into two arrays");
  const GridCell& last = output.cells[static_cast<std::size_t>(output.elements)];
  const bool is_total = last.known != Knowledge::kUnknown && static_cast<std::uint64_t>(last.number) == sum;
  return (found_.exclusive && is_total) || Refuse(fmt::format("{}[{}] is not the sum of all", output.name, output.elements));
}

bool ScanRuns::IsTotal(const GridTrace& trace, const std::string& type, std::uint64_t sum) const {
  const auto is_total = [&](const GridMemory& one) { return one.name == found_.total_to; };
  const auto total = std::find_if(trace.buffers.begin(), trace.buffers.end(), is_total);
  return total != trace.buffers.end() && total->type == type && HasOneElement(*total) &&
         total->cells.front().known != Knowledge::kUnknown && static_cast<std::uint64_t>(total->cells.front().number) == sum;
}

std::int64_t ScanRuns::MostBetween(const Parameters& parameters, std::int64_t right, std::int64_t wrong, std::int64_t times) {
  while (wrong - right > 1) {
    const std::int64_t middle = right + (wrong - right) / 2;
    (IsScan(parameters, middle * times) ? right : wrong) = middle;
  }
  return right;
}

std::int64_t ScanRuns::LeastOf(const Parameters& parameters) const {
  constexpr std::int64_t kLargestBlock = 1 << 14;
  const auto has_blocks = [&](std::int64_t elements) {
    const Variables variables = VariablesOf(parameters, elements);
    return std::all_of(launches_.begin(), launches_.end(), [&](const LaunchDirective* launch) {
      try {
        return launch->grid[0].EvaluateInteger(variables) > 0;
      } catch (const Error&) {
        return true;
      }
    });
  };
  if (has_blocks(1) || !has_blocks(kLargestBlock)) return 1;
  std::int64_t without = 1, with = kLargestBlock;
  while (with - without > 1) {
    const std::int64_t middle = without + (with - without) / 2;
    (has_blocks(middle) ? with : without) = middle;
  }
  return with;
}

}  // namespace evo
