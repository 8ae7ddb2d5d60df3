#include "kernel_templates/recorded_file.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <fstream>
#include <iterator>

#include "kernel_templates/task_shape.h"
#include "tests/kernel_templates/failure.h"
#include "tests/kernel_templates/npz_writer.h"

namespace evo {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kRecordedTask = R"json({
  "name": "scale", "summary": "Y = a X + Y", "sizes": ["N", "M"],
  "arguments": [
    {"name": "X", "role": "in", "dtype": "f32", "shape": ["N", "2 * M"], "generators": ["normal"]},
    {"name": "I", "role": "in", "dtype": "i32", "shape": ["N"], "generators": ["index<M"]},
    {"name": "Y", "role": "inout", "dtype": "f32", "shape": ["N", "M"], "generators": ["normal"],
     "check": {"l2": 1e-3, "max": 0.02}},
    {"name": "Z", "role": "out", "dtype": "i32", "shape": [1], "check": "exact"}
  ],
  "cases": {
    "small": {"name": "small", "sizes": {"N": 3, "M": 4}},
    "search": [{"name": "big", "sizes": {"N": 300, "M": 4}}], "search_cpu": [{"name": "cpu", "sizes": {"N": 30, "M": 4}}],
    "held_out": [{"name": "recorded", "data": "recorded.npz"SIZES}],
    "held_out_cpu": [{"name": "odd_cpu", "sizes": {"N": 5, "M": 5}}]
  },
  "baseline": "naive", "reference": "reference.py", "bytes": "N * M * 2", "operations": 5
})json";

class RecordedFileTest : public testing::Test {
 protected:
  using Arrays = std::map<std::string, std::string>;

  RecordedFileTest() : folder_(fs::path(testing::TempDir()) / ("recorded_file_test_" + std::to_string(::getpid()))) {
    fs::create_directories(folder_);
    Write("reference.py", "def reference(X): return X");
    Write("naive.cu", "// evo:launch naive(X, I, Y, Z) grid(N) block(32)\n");
    UseTask("");
  }
  ~RecordedFileTest() override { fs::remove_all(folder_); }

  void Write(const std::string& name, const std::string& text) const { std::ofstream(folder_ / name) << text; }
  // `more`: what the case says besides its name and data.
  void UseTask(const std::string& more) const {
    std::string text = kRecordedTask;
    Write("task.json", text.replace(text.find("SIZES"), 5, more));
  }
  // N = 2, M = 1.
  static Arrays Good() {
    return {{"X", NpyText<float>("<f4", "(2, 2)", {1, 2, 3, 4})},
            {"I", NpyText<std::int32_t>("<i4", "(2,)", {0, 0})},
            {"Y", NpyText<float>("<f4", "(2, 1)", {5, 6})},
            {"Y_expected", NpyText<double>("<f8", "(2, 1)", {7, 8})},
            {"Z", NpyText<std::int32_t>("<i4", "(1,)", {9})}};
  }
  void Record(const Arrays& arrays) const { WriteNpz(folder_ / "recorded.npz", {arrays.begin(), arrays.end()}); }
  std::string Failure() const {
    return UsageFailure([&] { LoadTask(folder_); });
  }
  // What is said where one array is another.
  std::string FailureWith(const std::string& name, const std::string& array) const {
    Arrays arrays = Good();
    arrays[name] = array;
    Record(arrays);
    const std::string prefix = (folder_ / "recorded.npz").string() + ": ";
    const std::string failure = Failure();
    EXPECT_TRUE(failure.starts_with(prefix)) << failure;
    return failure.substr(std::min(prefix.size(), failure.size()));
  }

  const fs::path folder_;
};

TEST_F(RecordedFileTest, ShapesGiveTheSizesOfTheCase) {
  Record(Good());
  const Task task = LoadTask(folder_);
  const Case& one = task.held_out.front();
  EXPECT_EQ(one.data, "recorded.npz");
  EXPECT_EQ(one.sizes.at("N"), 2);
  EXPECT_EQ(one.sizes.at("M"), 1);
  const RecordedFile& file = *task.recorded.at("recorded.npz");
  EXPECT_EQ(file.arrays.size(), 5u);
  ASSERT_NE(file.Find("X"), nullptr);
  EXPECT_THAT(file.Find("X")->shape, ElementsAre(2, 2));
  EXPECT_EQ(file.Find("X")->dtype, Dtype::kF32);
  EXPECT_EQ(file.Find("Y_expected")->dtype, Dtype::kF64);
}

TEST_F(RecordedFileTest, TheTextThatWorkersGetNeedsNoFile) {
  Record(Good());
  const Task task = LoadTask(folder_);
  const Task sent = ParseTask(task.json, task.reference, "elsewhere");
  EXPECT_EQ(sent.held_out.front().sizes, task.held_out.front().sizes);
  EXPECT_EQ(sent.held_out.front().data, "recorded.npz");
  EXPECT_EQ(sent.digest, task.digest);
  const Task shaped = WithSearchShapes(task, CaseScale::kGpu, {"N=64"});
  EXPECT_EQ(shaped.recorded, task.recorded);
  EXPECT_EQ(shaped.held_out.front().sizes, task.held_out.front().sizes);
}

TEST_F(RecordedFileTest, OtherDataIsAnotherTask) {
  Record(Good());
  const Task task = LoadTask(folder_);
  EXPECT_EQ(LoadTask(folder_).digest, task.digest);
  Arrays others = Good();
  others["Y_expected"] = NpyText<double>("<f8", "(2, 1)", {7, 8.5});
  Record(others);
  EXPECT_NE(LoadTask(folder_).digest, task.digest);
  UseTask(R"(, "digest": ")" + task.held_out.front().data_digest + '"');
  EXPECT_THAT(Failure(), HasSubstr("case 'recorded': its digest is "));
  Record(Good());
  EXPECT_EQ(Failure(), "");
}

TEST_F(RecordedFileTest, ArraysAreThoseOfTheArguments) {
  Arrays arrays = Good();
  arrays.erase("Y_expected");
  Record(arrays);
  EXPECT_EQ(Failure(), (folder_ / "recorded.npz").string() +
                           ": case 'recorded': the array Y_expected is missing: the right values of Y; the task needs X, I, Y, "
                           "Y_expected, Z");
  EXPECT_EQ(FailureWith("x", NpyText<float>("<f4", "(1,)", {1})),
            "case 'recorded': the array x is of no argument; the task needs X, I, Y, Y_expected, Z");
}

TEST_F(RecordedFileTest, ShapesMustAgree) {
  EXPECT_EQ(FailureWith("I", NpyText<std::int32_t>("<i4", "(3,)", {0, 0, 0})),
            "case 'recorded': N is 3 in the shape of I, and 2 in that of X");
  EXPECT_EQ(FailureWith("X", NpyText<float>("<f4", "(4,)", {1, 2, 3, 4})),
            "case 'recorded': X has the shape [4], and task.json says [N, 2 * M]");
  EXPECT_EQ(FailureWith("X", NpyText<float>("<f4", "(2, 3)", {1, 2, 3, 4, 5, 6})),
            "case 'recorded': X has the shape [2, 3], and task.json says [2, 2] where M = 1, N = 2");
  UseTask(R"(, "sizes": {"M": 2})");
  Record(Good());
  EXPECT_THAT(Failure(), HasSubstr("case 'recorded': M is 1 in the shape of Y, and 2 in task.json"));
}

TEST_F(RecordedFileTest, ASizeThatNoShapeTellsMustBeGiven) {
  std::string text = kRecordedTask;
  text.replace(text.find("SIZES"), 5, "");
  for (const char* shape : {R"("N", "M"], "generators)", R"("index<M")"}) {
    const std::size_t at = text.find(shape);
    ASSERT_NE(at, std::string::npos);
    text.replace(text.find('M', at), 1, "N");
  }
  Write("task.json", text);
  Arrays arrays = Good();
  arrays["Y"] = NpyText<float>("<f4", "(2, 2)", {5, 6, 7, 8});
  arrays["Y_expected"] = NpyText<double>("<f8", "(2, 2)", {5, 6, 7, 8});
  Record(arrays);
  EXPECT_THAT(Failure(), HasSubstr("the size M is no dimension of an array; give it: \"sizes\": {\"M\": ..}"));
}

TEST_F(RecordedFileTest, TypesMustHoldTheValues) {
  EXPECT_EQ(FailureWith("I", NpyText<float>("<f4", "(2,)", {0, 0})),
            "case 'recorded': I is float32, and task.json says i32; save it with .astype(numpy.int32)");
  EXPECT_EQ(FailureWith("X", NpyText<std::int64_t>("<i8", "(2, 2)", {1, 2, 3, 4})),
            "case 'recorded': X is int64, and task.json says f32; save it with .astype(numpy.float32)");
  EXPECT_EQ(FailureWith("Y_expected", NpyText<std::uint16_t>("<f2", "(2, 1)", {0, 0})),
            "case 'recorded': Y_expected is float16, and task.json says f32, which is more exact; save it with "
            ".astype(numpy.float64)");
}

TEST_F(RecordedFileTest, ArraysThatCannotBeReadAreNamed) {
  EXPECT_EQ(FailureWith("X", NpyText<float>("<f4", "(2, 2)", {1, 2, 3, 4}, "True")),
            "array X: is in Fortran order; save numpy.ascontiguousarray of it");
  EXPECT_EQ(FailureWith("X", NpyText<float>(">f4", "(2, 2)", {1, 2, 3, 4})),
            "array X: is big endian (>f4); save it with .astype('<f4')");
  EXPECT_EQ(FailureWith("X", NpyText<std::int64_t>("|O", "(1,)", {1})),
            "array X: has elements of type |O; real numbers, integers and bools can be read: convert it, bfloat16 to float32");
  EXPECT_EQ(FailureWith("X", NpyText<float>("<f4", "(2, 2)", {1, 2, 3})), "array X: is damaged; write it again with numpy.savez");
  EXPECT_EQ(FailureWith("X", NpyText<float>("<f4", "(9223372036854775807, 2)", {1, 2, 3})),
            "array X: is damaged; write it again with numpy.savez");
  EXPECT_THAT(FailureWith("X", NpyText<float>("<f4" + std::string(60'000, 'x'), "(1,)", {1})),
              HasSubstr("has elements of type <f4xx"));
  EXPECT_EQ(FailureWith("X", NpyText<float>("<f4", "(" + std::string(60'000, ' ') + "-1,)", {1})),
            "array X: is damaged; write it again with numpy.savez");
  EXPECT_EQ(FailureWith("X", "no array"), "array X: is damaged; write it again with numpy.savez");
}

TEST_F(RecordedFileTest, AFileThatIsNoneIsNamed) {
  EXPECT_EQ(Failure(), (folder_ / "recorded.npz").string() +
                           ": cannot be read; task.json names it as the data of a case, to be written with numpy.savez");
  Write("recorded.npz", "text");
  EXPECT_THAT(Failure(), HasSubstr("recorded.npz: is no .npz file, or is damaged; write it again with numpy.savez"));
  Record(Good());
  std::ifstream in(folder_ / "recorded.npz", std::ios::binary);
  const std::string good((std::istreambuf_iterator<char>(in)), {});
  Write("recorded.npz", good.substr(0, good.size() / 2));
  EXPECT_THAT(Failure(), HasSubstr("is damaged"));
  std::string flipped = good;
  flipped[flipped.find(".npy") + 40] ^= 0x10;  // in the data of the first array
  Write("recorded.npz", flipped);
  EXPECT_THAT(Failure(), HasSubstr("is damaged"));
}

TEST_F(RecordedFileTest, TheKeysOfACaseAreChecked) {
  Record(Good());
  UseTask(R"(, "weight": 2)");
  EXPECT_THAT(Failure(), HasSubstr("cases.held_out[0]: unknown key 'weight'"));
  std::string text = kRecordedTask;
  text.replace(text.find("\"recorded.npz\"SIZES"), 19, "\"../recorded.npz\"");
  Write("task.json", text);
  EXPECT_THAT(Failure(), HasSubstr("cases.held_out[0].data: '../recorded.npz' is not the name of a .npz file of this folder"));
  text = kRecordedTask;
  text.replace(text.find("\"data\": \"recorded.npz\"SIZES"), 27, R"("digest": "1", "sizes": {"N": 1, "M": 1})");
  Write("task.json", text);
  EXPECT_THAT(Failure(), HasSubstr("cases.held_out[0].digest: is that of `data`, which is missing"));
}

}  // namespace
}  // namespace evo
