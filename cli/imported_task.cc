#include "cli/imported_task.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <system_error>
#include <vector>

#include "core/error.h"
#include "kernel_templates/kernel_template.h"
#include "kernel_templates/task.h"

namespace evo {
namespace {

namespace fs = std::filesystem;

// A folder that is removed again unless it is kept.
class NewFolder {
 public:
  explicit NewFolder(fs::path path) : path_(std::move(path)) {
    std::error_code failed;
    if (!fs::create_directory(path_, failed))
      throw Error(fmt::format("{}: cannot be made: {}", path_.string(), failed ? failed.message() : "it exists"));
  }
  ~NewFolder() {
    std::error_code failed;
    if (!kept_) fs::remove_all(path_, failed);
  }
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;

  void Write(const std::string& name, const std::string& text) const {
    std::ofstream file(path_ / name, std::ios::binary);
    file << text;
    file.close();
    if (!file) throw Error(fmt::format("{}: cannot be written", (path_ / name).string()));
  }
  void KeepAs(const fs::path& name) {
    std::error_code failed;
    fs::rename(path_, name, failed);
    if (failed) throw Error(fmt::format("{}: cannot be made: {}", name.string(), failed.message()));
    kept_ = true;
  }

 private:
  fs::path path_;
  bool kept_ = false;
};

std::string LoadProblem(const fs::path& folder) {
  try {
    const Task task = LoadTask(folder);
    const std::vector<KernelTemplate> templates = LoadTemplates(folder);
    const auto is_baseline = [&](const KernelTemplate& one) { return one.name == task.baseline; };
    if (std::none_of(templates.begin(), templates.end(), is_baseline)) return fmt::format("there is no {}.cu", task.baseline);
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace

void RefuseExisting(const fs::path& folder) {
  std::error_code failed;
  if (fs::exists(fs::symlink_status(folder, failed)))
    throw UsageError(fmt::format("{}: there is something of this name; choose another folder with --out", folder.string()));
}

std::string WriteImportedTask(const fs::path& folder, const std::map<std::string, std::string>& files) {
  RefuseExisting(folder);
  const fs::path whole = folder.has_filename() ? folder : folder.parent_path();
  NewFolder partial(whole.string() + fmt::format(".partial-{}", ::getpid()));
  for (const auto& [name, text] : files) partial.Write(name, text);
  partial.KeepAs(whole);
  return LoadProblem(whole);
}

}  // namespace evo
