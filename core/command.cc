#include "core/command.h"

#include <fmt/format.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/readable_pipe.hpp>
#include <boost/process/v2/environment.hpp>
#include <boost/process/v2/posix/vfork_launcher.hpp>
#include <boost/process/v2/process.hpp>
#include <boost/process/v2/stdio.hpp>
#include <fstream>
#include <iterator>

#include "core/error.h"

namespace evo {
namespace {

namespace bp = boost::process::v2;
namespace fs = std::filesystem;

}  // namespace

CommandResult RunCommand(const fs::path& program, const std::vector<std::string>& arguments, const std::string& remedy) {
  boost::asio::io_context context;
  boost::asio::readable_pipe output(context);
  auto found = program.has_parent_path() ? bp::filesystem::path(program.string()) : bp::environment::find_executable(program.string());
  if (found.empty()) throw Error(fmt::format("{} is not installed; {}", program.string(), remedy));
  // Without a copy of our page tables: a compile worker maps some hundred megabytes.
  boost::system::error_code failed;
  bp::process process = bp::posix::vfork_launcher()(context, failed, found, arguments, bp::process_stdio{nullptr, nullptr, output});
  if (failed) throw Error(fmt::format("{} cannot be run ({}); {}", program.string(), failed.message(), remedy));
  CommandResult result;
  boost::system::error_code end;
  boost::asio::read(output, boost::asio::dynamic_buffer(result.output), end);
  result.status = process.wait();
  return result;
}

void CutAll(std::string& text, const std::string& what) {
  if (what.empty()) return;
  for (std::size_t at; (at = text.find(what)) != std::string::npos;) text.erase(at, what.size());
}

std::string ReadFile(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void WriteFile(const fs::path& file, const std::string& text) {
  std::ofstream out(file, std::ios::binary);
  out << text;
  out.close();
  if (!out) throw Error(fmt::format("{}: cannot be written; is the disk full?", file.string()));
}

}  // namespace evo
