#include "cli/terminal.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

namespace evo {
namespace {

constexpr std::array kBars{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr const char* kEllipsis = "…";

// What a pager shows on a terminal at present; null: nothing. Used by the thread that prints only.
std::FILE* paged = nullptr;
int terminal_of_paged = -1;

bool BeginsCharacter(char byte) { return (static_cast<unsigned char>(byte) & 0xc0U) != 0x80; }

// The mean of the numbers among values[from, to).
double MeanOf(const std::vector<double>& values, std::size_t from, std::size_t to) {
  double sum = 0;
  int count = 0;
  for (std::size_t i = from; i < to; ++i) {
    if (std::isnan(values[i])) continue;
    sum += values[i];
    ++count;
  }
  return count > 0 ? sum / count : std::nan("");
}

// The program with which to show long output; empty: none.
std::string PagerCommand() {
  const char* const wanted = std::getenv("PAGER");
  if (wanted == nullptr) return "less -FRX";
  const std::string command = wanted;
  if (command == "cat") return "";
  return command == "less" ? "less -FRX" : command;
}

}  // namespace

bool IsTerminal(std::FILE* out) { return out == paged || ::isatty(::fileno(out)) != 0; }

int TerminalOf(std::FILE* out) { return out == paged ? terminal_of_paged : ::fileno(out); }

std::string InColour(std::FILE* out, Colour colour, const std::string& text) {
  if (!IsTerminal(out) || std::getenv("NO_COLOR") != nullptr) return text;
  const int code = colour == Colour::kRed ? 31 : colour == Colour::kGreen ? 32 : 36;
  return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

std::size_t ColumnsOf(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), BeginsCharacter));
}

std::size_t BytesOf(std::string_view text, std::size_t columns) {
  std::size_t end = 0;
  for (std::size_t characters = 0; end < text.size(); ++end) {
    if (BeginsCharacter(text[end]) && ++characters > columns) break;
  }
  return end;
}

std::string Shortened(const std::string& text, std::size_t columns) {
  if (ColumnsOf(text) <= columns) return text;
  return text.substr(0, BytesOf(text, columns - 1)) + kEllipsis;
}

std::string Sparkline(const std::vector<double>& values, std::size_t width) {
  const std::size_t count = std::min(values.size(), width);
  std::vector<double> means;
  for (std::size_t i = 0; i < count; ++i)
    means.push_back(MeanOf(values, i * values.size() / count, (i + 1) * values.size() / count));
  double low = std::nan("");
  double high = std::nan("");
  for (const double mean : means) {
    low = std::fmin(low, mean);  // ignores NaN
    high = std::fmax(high, mean);
  }
  if (std::isnan(low)) return "";
  std::string line;
  for (const double mean : means) {
    const double share = high > low ? (mean - low) / (high - low) : 0;
    line += std::isnan(mean) ? " " : kBars.at(std::min(static_cast<std::size_t>(share * kBars.size()), kBars.size() - 1));
  }
  return line;
}

std::string LogSparkline(std::vector<double> values, std::size_t width) {
  for (double& value : values) value = value > 0 ? std::log(value) : std::nan("");
  return Sparkline(values, width);
}

Pager::Pager(std::FILE* out) : out_(out) {
  const std::string command = PagerCommand();
  if (!IsTerminal(out) || ::isatty(STDIN_FILENO) == 0 || command.empty()) return;
  std::fflush(out_);
  terminal_ = ::dup(::fileno(out_));
  pager_ = ::popen(command.c_str(), "w");
  if (pager_ == nullptr) return;
  ::dup2(::fileno(pager_), ::fileno(out_));
  paged = out_;
  terminal_of_paged = terminal_;
}

Pager::~Pager() {
  if (pager_ != nullptr) {
    std::fflush(out_);
    paged = nullptr;
    ::dup2(terminal_, ::fileno(out_));
    ::pclose(pager_);
  }
  if (terminal_ >= 0) ::close(terminal_);
}

}  // namespace evo
