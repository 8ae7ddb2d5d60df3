#include "cli/manual.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace evo {
namespace {

std::vector<std::string> Flags(const CLI::Option& option) {
  std::vector<std::string> flags;
  for (const std::string& name : option.get_snames()) flags.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) flags.push_back("--" + name);
  return flags;
}

bool TakesValue(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

// The values that an option allows: CLI11 names them in braces, as in "TEXT:{on,off}". Empty: any.
std::vector<std::string> ValuesOf(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const std::size_t begin = type.find('{');
  const std::size_t end = type.find('}');
  std::vector<std::string> values;
  if (begin == std::string::npos || end == std::string::npos || end < begin) return values;
  for (std::size_t at = begin + 1; at < end;) {
    const std::size_t comma = std::min(type.find(',', at), end);
    values.push_back(type.substr(at, comma - at));
    at = comma + 1;
  }
  return values;
}

std::vector<const CLI::App*> Commands(const CLI::App& app) {
  // Without a filter CLI11 leaves out nothing but lists in another order.
  return app.get_subcommands([](const CLI::App* one) { return !one->get_name().empty(); });
}

// Characters that roff reads as its own.
std::string Roff(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\\') {
      escaped += "\\e";
    } else if (c == '-') {
      escaped += "\\-";
    } else if ((c == '.' || c == '\'') && (escaped.empty() || escaped.back() == '\n')) {
      escaped += std::string("\\&") + c;
    } else {
      escaped += c;
    }
  }
  return escaped;
}

std::string OptionsPart(const CLI::App& command) {
  std::string text;
  for (const CLI::Option* option : command.get_options()) {
    const std::vector<std::string> flags = Flags(*option);
    std::string name = flags.empty() ? option->get_name(true) : fmt::format("{}", fmt::join(flags, ", "));
    const std::vector<std::string> values = ValuesOf(*option);
    std::string value;
    if (!flags.empty() && TakesValue(*option)) value = values.empty() ? " VALUE" : fmt::format(" {}", fmt::join(values, "|"));
    text += fmt::format(".TP\n\\fB{}\\fR{}\n{}", Roff(name), Roff(value), Roff(option->get_description()));
    if (const std::string preset = option->get_default_str(); !preset.empty())
      text += Roff(fmt::format(" (default: {})", preset));
    text += "\n";
  }
  return text.empty() ? "" : ".SH OPTIONS\n" + text;
}

std::string FullName(const CLI::App& app, const CLI::App& command) {
  if (&command == &app) return app.get_name();
  return FullName(app, *command.get_parent()) + " " + command.get_name();
}

// Calls visit for the program and everything below it, with the names that lead there: "evo", "evo db", "evo db check".
template <typename Visit>
void ForEachCommand(const CLI::App& app, const CLI::App& command, const Visit& visit) {
  visit(FullName(app, command), command);
  for (const CLI::App* below : Commands(command)) ForEachCommand(app, *below, visit);
}

// For a shell's single quotes.
std::string Quoted(std::string_view text) {
  std::string quoted;
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return "'" + quoted + "'";
}

// Of a description of zsh's, in which colons and brackets have a meaning.
std::string ForZsh(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == ':' || c == '[' || c == ']') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string ZshOption(const CLI::Option& option) {
  std::string lines;
  const std::vector<std::string> values = ValuesOf(option);
  const std::string value = !TakesValue(option) ? ""
                            : values.empty()    ? ":value:_files"
                                                : fmt::format(":value:({})", fmt::join(values, " "));
  for (const std::string& flag : Flags(option))
    lines += fmt::format("        {} \\\n", Quoted(fmt::format("*{}[{}]{}", flag, ForZsh(option.get_description()), value)));
  return lines;
}

}  // namespace

std::string ManualPage(const CLI::App& app, const CLI::App& command, const std::string& version) {
  const std::string name = FullName(app, command);
  std::string title = name;
  std::replace(title.begin(), title.end(), ' ', '-');
  std::string page = fmt::format(".TH {} 1 \"\" \"evo {}\"\n.SH NAME\n{} \\- {}\n.SH SYNOPSIS\n\\fB{}\\fR", Roff(title),
                                 Roff(version), Roff(title), Roff(command.get_description()), Roff(name));
  const std::vector<const CLI::App*> below = Commands(command);
  page += below.empty() ? " [\\fIOPTIONS\\fR]" : " \\fICOMMAND\\fR";
  for (const CLI::Option* option : command.get_options()) {
    if (Flags(*option).empty())
      page += fmt::format(fmt::runtime(option->get_required() ? " \\fI{0}\\fR" : " [\\fI{0}\\fR]"), Roff(option->get_name(true)));
  }
  page += "\n" + OptionsPart(command);
  if (!below.empty()) page += ".SH COMMANDS\n";
  for (const CLI::App* one : below)
    page += fmt::format(".TP\n\\fB{} {}\\fR\n{}\n", Roff(name), Roff(one->get_name()), Roff(one->get_description()));
  return page;
}

std::string BashCompletion(const CLI::App& app) {
  std::string names;  // commands and flags, by what was typed
  std::string values;
  ForEachCommand(app, app, [&](const std::string& name, const CLI::App& command) {
    std::vector<std::string> words;
    for (const CLI::App* below : Commands(command)) words.push_back(below->get_name());
    for (const CLI::Option* option : command.get_options()) {
      for (const std::string& flag : Flags(*option)) {
        words.push_back(flag);
        if (!ValuesOf(*option).empty())
          values += fmt::format("    {}) words={} ;;\n", Quoted(name + " " + flag),
                                Quoted(fmt::format("{}", fmt::join(ValuesOf(*option), " "))));
      }
    }
    names += fmt::format("    {}) words={} ;;\n", Quoted(name), Quoted(fmt::format("{}", fmt::join(words, " "))));
  });
  return fmt::format(R"(# Completion of evo for bash; made by `evo completion bash`.
_evo() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}} typed={} words='' i
  for ((i = 1; i < COMP_CWORD && i < 3; i++)); do
    [[ ${{COMP_WORDS[i]}} == -* ]] && break
    typed+=" ${{COMP_WORDS[i]}}"
  done
  case "$typed $previous" in
{}  esac
  if [[ -z $words ]]; then
    case "$typed" in
{}    *) case "${{typed% *}}" in
{}    esac ;;
    esac
    [[ $current == -* || $words != -* ]] || words=''
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  return 0
}}
complete -o default -F _evo evo
)",
                     app.get_name(), values, names, names);
}

std::string ZshCompletion(const CLI::App& app) {
  std::string cases;
  std::string commands;
  for (const CLI::App* command : Commands(app)) {
    commands += fmt::format("    {}\n", Quoted(fmt::format("{}:{}", command->get_name(), ForZsh(command->get_description()))));
    std::string options;
    const CLI::App* shown = command;
    for (const CLI::App* below : Commands(*command)) {
      for (const CLI::Option* option : below->get_options()) options += ZshOption(*option);
    }
    for (const CLI::Option* option : shown->get_options()) options += ZshOption(*option);
    std::vector<std::string> below;
    for (const CLI::App* one : Commands(*command)) below.push_back(one->get_name());
    const std::string rest =
        below.empty() ? "'*:file:_files'" : fmt::format("'1:command:({})' '*:file:_files'", fmt::join(below, " "));
    cases += fmt::format("      {})\n        _arguments \\\n{}        {} ;;\n", command->get_name(), options, rest);
  }
  return fmt::format(R"(#compdef evo
# Completion of evo for zsh; made by `evo completion zsh`.
_evo() {{
  local -a commands=(
{}  )
  local state
  _arguments -C '1:command:->command' '*::argument:->argument'
  case $state in
    command) _describe command commands ;;
    argument)
      case $words[1] in
{}      esac ;;
  esac
}}
_evo "$@"
)",
                     commands, cases);
}

}  // namespace evo
