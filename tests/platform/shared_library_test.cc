#include "platform/shared_library.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "core/error.h"

namespace evo {
namespace {

std::string MessageOf(const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(SharedLibraryTest, CallsWhatItResolves) {
  const SharedLibrary library("the math library", {}, {"libm.so.6"}, "install it");
  double (*cosine)(double) = nullptr;
  library.Resolve(cosine, "cos");
  EXPECT_EQ(cosine(0), 1);
}

TEST(SharedLibraryTest, SaysWhatIsMissingWhereAndWhatToDo) {
  const auto open = [](const std::vector<std::filesystem::path>& folders) {
    return MessageOf([&] { SharedLibrary("a library", folders, {"libevo_absent.so.1"}, "install it"); });
  };
  EXPECT_EQ(
      open({}),
      "a library: cannot be opened from the loader's path (libevo_absent.so.1: cannot open shared object file: No such file "
      "or directory); install it");
  EXPECT_EQ(open({"/nowhere", "/elsewhere"}).substr(0, 86),
            "a library: cannot be opened from /nowhere, /elsewhere nor from the loader's path (libe");
  EXPECT_EQ(MessageOf([] {
              void (*absent)() = nullptr;
              SharedLibrary("the math library", {}, {"libm.so.6"}, "install it").Resolve(absent, "evo_absent");
            }),
            "libm.so.6: has no function evo_absent; install it");
}

}  // namespace
}  // namespace evo
