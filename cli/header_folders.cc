#include "cli/header_folders.h"

#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <vector>

#include "core/error.h"

namespace evo {

CLI::Option* AddHeaderFolders(CLI::App& command, HeaderFolders& folders) {
  return command
      .add_option_function<std::vector<std::string>>(
          "--include",
          [&folders](const std::vector<std::string>& given) {
            for (const std::string& one : given) {
              if (!std::filesystem::is_directory(one))
                throw UsageError(fmt::format("--include {}: there is no such folder", one));
              folders.push_back(one);
            }
          },
          "A folder in which local headers are looked for, besides that of the file that includes them; as nvcc's -I")
      ->allow_extra_args(false);
}

}  // namespace evo
