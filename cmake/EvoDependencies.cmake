# Everything comes from the system's packages or from the CUDA toolkit; nothing is downloaded.
find_package(Threads REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(fmt 9 REQUIRED)
find_package(CLI11 2 REQUIRED)
find_package(Boost 1.81 REQUIRED COMPONENTS context filesystem)
find_package(SQLiteCpp REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(xxhash REQUIRED IMPORTED_TARGET libxxhash)
pkg_check_modules(minizip REQUIRED IMPORTED_TARGET minizip)
pkg_check_modules(seccomp REQUIRED IMPORTED_TARGET libseccomp>=2.5)

# The toolkit's headers and its static run-time library; libcuda, NVRTC and CUPTI are opened at run time where they are.
find_package(CUDAToolkit 12.4 REQUIRED)

find_path(EVO_LIBCLANG_INCLUDE_DIR clang-c/Index.h PATHS /usr/lib/llvm-16/include REQUIRED NO_DEFAULT_PATH)
find_library(EVO_LIBCLANG_LIBRARY NAMES clang-16 clang PATHS /usr/lib/llvm-16/lib REQUIRED NO_DEFAULT_PATH)
# Opened at run time as well, but it goes into the package.
add_library(evo_libclang_headers INTERFACE)
target_include_directories(evo_libclang_headers SYSTEM INTERFACE ${EVO_LIBCLANG_INCLUDE_DIR})
get_filename_component(clang_file ${EVO_LIBCLANG_LIBRARY} REALPATH)
get_filename_component(clang_folder ${EVO_LIBCLANG_LIBRARY} DIRECTORY)
add_library(evo_libclang SHARED IMPORTED GLOBAL)
set_target_properties(evo_libclang PROPERTIES IMPORTED_LOCATION ${clang_file})
list(APPEND CMAKE_BUILD_RPATH ${clang_folder})

# Debian's libdtl-dev: unified diffs, headers only.
find_path(EVO_DTL_INCLUDE_DIR dtl/dtl.hpp REQUIRED)
