#include "cli/imported_task.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <system_error>
#include <vector>

#include "core/error.h"
#include "kernel_templates/kernel_template.h"
#include "kernel_templates/task.h"

namespace evo {
namespace {

namespace fs = std::filesystem;

// Becomes the folder `name` when it is whole, and is removed again otherwise.
class NewFolder {
 public:
  explicit NewFolder(fs::path name) : name_(std::move(name)), path_(name_.string() + fmt::format(".partial-{}", ::getpid())) {
    std::error_code failed;
    const fs::path parent = name_.parent_path();
    if (!parent.empty() && !fs::is_directory(parent, failed))
      throw UsageError(fmt::format("{}: there is no folder {} to make it in", name_.string(), parent.string()));
    if (!fs::create_directory(path_, failed))
      throw Error(fmt::format("{}: cannot be made: {}", name_.string(), failed ? failed.message() : "it exists"));
  }
  ~NewFolder() {
    std::error_code failed;
    if (!kept_) fs::remove_all(path_, failed);
  }
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;

  void Write(const std::string& name, const std::string& text) const {
    errno = 0;
    std::ofstream file(path_ / name, std::ios::binary);
    file << text;
    file.close();
    if (!file) throw Error(fmt::format("{}: cannot be written: {}", (name_ / name).string(), std::strerror(errno)));
  }
  void Keep() {
    std::error_code failed;
    fs::rename(path_, name_, failed);
    if (failed) throw Error(fmt::format("{}: cannot be made: {}", name_.string(), failed.message()));
    kept_ = true;
  }

 private:
  fs::path name_;
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
  NewFolder partial(whole);
  for (const auto& [name, text] : files) partial.Write(name, text);
  partial.Keep();
  return LoadProblem(whole);
}

}  // namespace evo
