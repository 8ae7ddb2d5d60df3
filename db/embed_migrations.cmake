# Writes OUTPUT, a C++ source with the text of the files MIGRATIONS (paths separated by |). Each file name begins with its version.
string(REPLACE "|" ";" migrations "${MIGRATIONS}")
set(rows "")
foreach(file IN LISTS migrations)
  get_filename_component(name ${file} NAME_WE)
  string(REGEX MATCH "^[0-9]+" version ${name})
  math(EXPR version "1${version} - 10000")   # "0001" would otherwise be octal in the generated source
  file(READ ${file} text)
  string(APPEND rows "    {${version}, \"${name}\", R\"sql(${text})sql\"},\n")
endforeach()
file(WRITE ${OUTPUT} "// Generated from db/migrations.
#include \"db/migrations.h\"

namespace evo {
namespace {

constexpr Migration kMigrations[] = {
${rows}};

}  // namespace

std::span<const Migration> Migrations() { return kMigrations; }

}  // namespace evo
")
