# `cpack -G TXZ` makes a package that runs where it is unpacked: the programs, what they read, and the shared libraries beyond those of
# the C and C++ run time, in a folder of their own so that an installation into /usr/local shadows nobody's. CUDA's libraries are never
# among them: they come from the machine's own toolkit and driver.
#
# Clang's static analyser, Windows manifests and line editor are all that uses these three; with their own dependencies they weigh as
# much as the rest of the package, and evo never calls them. finish_package.cmake puts empty ones in their place.
set(evo_never_called "^lib(z3|xml2|edit)\\.so")

install(IMPORTED_RUNTIME_ARTIFACTS evo_libclang RUNTIME_DEPENDENCY_SET evo_libraries LIBRARY DESTINATION ${EVO_LIBRARY_FOLDER})
install(RUNTIME_DEPENDENCY_SET evo_libraries
  PRE_EXCLUDE_REGEXES "^ld-linux" "^lib(c|m|dl|rt|pthread|stdc\\+\\+|gcc_s)\\.so" "^lib(cuda|nvrtc|cupti)" ${evo_never_called}
  LIBRARY DESTINATION ${EVO_LIBRARY_FOLDER})
install(CODE "set(libraries \$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${EVO_LIBRARY_FOLDER})
set(never_called [[${evo_never_called}]])
set(compiler [[${CMAKE_CXX_COMPILER}]])
set(nm [[${CMAKE_NM}]])
set(readelf [[${CMAKE_READELF}]])")
install(SCRIPT ${CMAKE_CURRENT_LIST_DIR}/finish_package.cmake)

string(TOLOWER ${CMAKE_SYSTEM_NAME} system)
set(CPACK_GENERATOR TXZ)
set(CPACK_PACKAGE_FILE_NAME evo-${PROJECT_VERSION}-${system}-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/package)
set(CPACK_STRIP_FILES ON)
set(CPACK_THREADS 0)
set(CPACK_VERBATIM_VARIABLES ON)
include(CPack)
