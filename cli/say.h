#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <utility>

namespace evo {

// Writes a message for the user. What cannot be written is lost: a run goes on when nobody can read of its progress (a full disk
// behind standard error, a closed terminal). Results are printed with fmt::print, which fails.
template <typename... Args>
void Say(std::FILE* messages, fmt::format_string<Args...> format, Args&&... args) {
  const std::string text = fmt::format(format, std::forward<Args>(args)...);
  std::fwrite(text.data(), 1, text.size(), messages);
}

}  // namespace evo
