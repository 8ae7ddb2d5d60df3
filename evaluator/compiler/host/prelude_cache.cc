#include "evaluator/compiler/host/prelude_cache.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "core/digest.h"
#include "core/error.h"
#include "evaluator/compiler/host/host_compiler.h"
#include "platform/command.h"
#include "platform/user_cache.h"

namespace evo {
namespace {

namespace fs = std::filesystem;

// The file's size and time; "none" if there is no such file.
std::string Stamp(const fs::path& file) {
  std::error_code failed;
  const auto size = fs::file_size(file, failed);
  if (failed) return "none";
  const auto time = fs::last_write_time(file, failed).time_since_epoch().count();
  return failed ? "none" : fmt::format("{} {}", size, time);
}

// A new private folder in `parent`; nullopt if it cannot be created.
std::optional<fs::path> NewFolder(const fs::path& parent) {
  std::string name = (parent / "new-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) return std::nullopt;
  return fs::path(name);
}

void CompileHeaders(const fs::path& compiler, const std::vector<std::string>& arguments) {
  const CommandResult built = RunCommand(compiler, arguments, kHostCompilerRemedy);
  if (built.status != 0)
    throw Error(fmt::format("{} cannot compile the cpu device's headers: {}", compiler.string(), FirstHostError(built.output)));
}

// Writes the header, its precompiled form and its companion into the folder. g++ takes the precompiled form if it lies next to
// the header that -include names, under this name and .gch.
void Precompile(const fs::path& compiler, const fs::path& folder, std::vector<std::string> arguments,
                std::vector<std::string> object) {
  const std::string header = (folder / "prelude.h").string();
  WriteFile(header, "#include \"evo_cpu/prelude.h\"\n");
  arguments.insert(arguments.end(),
                   {"-x", "c++-header", header, "-o", header + ".gch", "-MD", "-MF", (folder / "dependencies").string()});
  CompileHeaders(compiler, arguments);
  if (object.empty()) return;
  object.insert(object.end(), {"-c", "-o", PreludeCache::Companion(header).string()});
  CompileHeaders(compiler, object);
}

// The header that an entry names, if all that it was made from is unchanged.
std::optional<fs::path> UpToDate(const fs::path& entry, bool with_object) {
  const auto record = nlohmann::json::parse(ReadFile(entry), nullptr, false);
  try {
    const fs::path header = entry.parent_path() / record.at("folder").get<std::string>() / "prelude.h";
    if (!fs::exists(header) || Stamp(header.string() + ".gch") != record.at("precompiled").get<std::string>())
      return std::nullopt;
    const fs::path companion = PreludeCache::Companion(header);
    if (with_object && (!fs::exists(companion) || Stamp(companion) != record.at("object").get<std::string>()))
      return std::nullopt;
    for (const auto& [file, stamp] : record.at("depends").items()) {
      if (Stamp(file) != stamp.get<std::string>()) return std::nullopt;
    }
    return header;
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;  // absent, or damaged
  }
}

}  // namespace

std::vector<std::string> ParseDependencies(const std::string& rule) {
  std::vector<std::string> files;
  std::string word;
  const auto finish = [&] {
    if (!word.empty() && word.back() != ':') files.push_back(word);
    word.clear();
  };
  for (std::size_t i = 0; i < rule.size(); ++i) {
    const char next = i + 1 < rule.size() ? rule[i + 1] : '\0';
    if (rule[i] == '\\' && next == '\n') {
      finish();
      ++i;
    } else if ((rule[i] == '\\' && (next == ' ' || next == '#')) || (rule[i] == '$' && next == '$')) {
      word += next;
      ++i;
    } else if (rule[i] == ' ' || rule[i] == '\n') {
      finish();
    } else {
      word += rule[i];
    }
  }
  finish();
  return files;
}

PreludeCache::PreludeCache(fs::path compiler, const fs::path& folder, fs::path scratch)
    : compiler_(std::move(compiler)), folder_(OwnFolder(folder)), scratch_(std::move(scratch)) {}

fs::path PreludeCache::Companion(const fs::path& header) { return header.parent_path() / "companion.o"; }

fs::path PreludeCache::Find(const std::vector<std::string>& options, const std::vector<std::string>& object) const {
  // What the compiler would run: its version, and the options that -march=native stands for.
  std::vector<std::string> asked = options;
  asked.insert(asked.end(), {"-v", "-###", "-x", "c++", "-E", "/dev/null"});
  const std::string key = Digest(RunCommand(compiler_, asked, kHostCompilerRemedy).output);
  if (!folder_.empty()) {
    const fs::path entry = folder_ / (key + ".json");
    if (const auto header = UpToDate(entry, !object.empty())) {
      for (const fs::path& used : {entry, header->parent_path()}) MarkUsed(used);
      return *header;
    }
    RemoveUnused(folder_);
    try {
      return Make(entry, options, object);
    } catch (const Error&) {
      // The disk may be full there: once more where every other temporary file is.
    } catch (const fs::filesystem_error&) {
    }
  }
  const fs::path own = scratch_ / key;
  if (fs::exists(own / "prelude.h.gch") && (object.empty() || fs::exists(Companion(own / "prelude.h")))) return own / "prelude.h";
  fs::create_directories(own);
  Precompile(compiler_, own, options, object);
  return own / "prelude.h";
}

// Makes everything in a new folder, which gets its name when it is complete, so that another process sees all of it or nothing.
fs::path PreludeCache::Make(const fs::path& entry, const std::vector<std::string>& options,
                            const std::vector<std::string>& object) const {
  const auto made = NewFolder(folder_);
  if (!made) throw Error(fmt::format("{}: no folder can be created in it", folder_.string()));
  try {
    Precompile(compiler_, *made, options, object);
    nlohmann::json record = {{"precompiled", Stamp(*made / "prelude.h.gch")},
                             {"object", Stamp(Companion(*made / "prelude.h"))},
                             {"depends", nlohmann::json::object()}};
    for (const std::string& file : ParseDependencies(ReadFile(*made / "dependencies"))) {
      if (fs::path(file).parent_path() != *made) record["depends"][file] = Stamp(file);
    }
    const std::string name = entry.stem().string() + "-" + made->filename().string().substr(4);
    fs::rename(*made, folder_ / name);
    record["folder"] = name;
    const fs::path written = folder_ / name / "entry.json";
    WriteFile(written, record.dump());
    fs::rename(written, entry);
    return folder_ / name / "prelude.h";
  } catch (...) {
    std::error_code ignored;
    fs::remove_all(*made, ignored);
    throw;
  }
}

}  // namespace evo
