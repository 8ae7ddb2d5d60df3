#include <gmock/gmock.h>

#include <string>

#include "tests/import/importing.h"

namespace evo {
namespace {

using nlohmann::json;

// Of what is guessed, since the host does not allocate it.
json GuessedShape(const ImportReply& reply, const std::string& name) {
  EXPECT_TRUE(QuestionOf(reply, name + ".shape").unknown) << name;
  return ArgumentOf(TaskOf(reply), name).at("shape");
}

// A library's launcher of one kernel, whose body is given.
ImportReply ReadLauncher(const std::string& body, const std::string& launch = "(height + 15) / 16, 256") {
  return Read("__global__ void k(const float* x, float* y, int width, int height, int depth) {\n" + body +
              "}\nvoid run(const float* x, float* y, int width, int height, int depth) {\n  k<<<" + launch +
              ">>>(x, y, width, height, depth);\n}\n");
}

// The lengths of rows and of columns are the same parameter, and another one has the other length.
TEST(ImportExtents, ShapesAreReadFromSubscripts) {
  const ImportReply reply = Read(R"(
__global__ void products(const float* q, const float* k, float* scores, int length, int features) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  int column = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= length || column >= length) return;
  float sum = 0;
  for (int i = 0; i < features; i++) sum += q[row * features + i] * k[column * features + i];
  scores[row * length + column] = sum;
}
void run(const float* q, const float* k, float* scores, int length, int features) {
  dim3 grid((length + 15) / 16, (length + 15) / 16);
  products<<<grid, dim3(16, 16)>>>(q, k, scores, length, features);
}
)");
  EXPECT_EQ(GuessedShape(reply, "scores"), json({"length", "length"}));
  EXPECT_EQ(GuessedShape(reply, "q"), json({"length", "features"}));
  EXPECT_EQ(GuessedShape(reply, "k"), json({"length", "features"}));
}

TEST(ImportExtents, VariablesParenthesesAndCastsAreSeenThrough) {
  const std::string row = "  int r = blockIdx.x * blockDim.x + threadIdx.x;\n  if (r >= height) return;\n";
  const std::string loop = "  for (int i = 0; i < width; ++i) ";
  for (const std::string& body : {
           row + loop + "{ int at = r * width + i; y[at] = x[at]; }\n",
           row + loop + "y[(size_t)i + (size_t)width * (r)] = x[width * r + i];\n",
           row + loop + "{ size_t first = (size_t)r * width; y[first + i] = x[i + first]; }\n",
           row + "  const float* in = x + r * width;\n  float* out = &y[r * width];\n" + loop + "out[i] = in[i];\n",
           row + loop + "*(y + r * width + i) = *(x + r * width + i);\n",
           std::string("  int r = blockIdx.x;\n") +
               "  for (int i = threadIdx.x; height > r && i < width; i += blockDim.x) y[r * width + i] = x[r "
               "* width + i];\n",
       }) {
    const ImportReply reply = ReadLauncher(body);
    EXPECT_EQ(GuessedShape(reply, "y"), json({"height", "width"})) << body;
    EXPECT_EQ(GuessedShape(reply, "x"), json({"height", "width"})) << body;
  }
}

TEST(ImportExtents, NestedSubscriptsHaveMoreDimensions) {
  const std::string loops =
      "  for (int z = 0; z < depth; ++z)\n    for (int r = threadIdx.x; r < height; r += blockDim.x)\n"
      "      for (int c = 0; c < width; ++c) ";
  const json all = {"depth", "height", "width"};
  EXPECT_EQ(GuessedShape(ReadLauncher(loops + "y[(z * height + r) * width + c] = x[r * width + c];\n"), "y"), all);
  EXPECT_EQ(GuessedShape(ReadLauncher(loops + "y[z * height * width + r * width + c] = x[r * width + c];\n"), "y"), all);
  EXPECT_EQ(GuessedShape(ReadLauncher(loops + "y[c + width * (z * height + r)] = x[r * width + c];\n"), "x"),
            json({"height", "width"}));
}

// A tile's element stays below a bound as a sum does, and one of all elements below a product.
TEST(ImportExtents, SumsAndProductsAreBounds) {
  const std::string tiles = "  for (int k = 0; k < height; k += 16)\n    if (height > threadIdx.y + k) ";
  EXPECT_EQ(GuessedShape(ReadLauncher(tiles + "y[(k + threadIdx.y) * width + threadIdx.x] = x[k * width];\n"), "y"),
            json({"height", "width"}));
  const std::string flat = "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < depth * width) ";
  EXPECT_EQ(GuessedShape(ReadLauncher(flat + "y[i] = 2 * x[i];\n"), "y"), json({"depth", "width"}));
}

// The index of a block has as many values as the grid has blocks.
TEST(ImportExtents, BlocksAreAsManyAsTheGridHas) {
  const std::string rows = "  for (int i = threadIdx.x; i < width; i += blockDim.x) ";
  const std::string own = "  const int r = blockIdx.y;\n";
  EXPECT_EQ(GuessedShape(ReadLauncher(rows + "y[blockIdx.x * width + i] = x[blockIdx.x * width + i];\n", "depth, 256"), "y"),
            json({"depth", "width"}));
  EXPECT_EQ(GuessedShape(ReadLauncher(own + rows + "y[r * width + i] = x[r * width + i];\n", "dim3(1, depth), 256"), "x"),
            json({"depth", "width"}));
  const std::string thread = "  int r = blockIdx.x * blockDim.x + threadIdx.x;\n";
  EXPECT_NE(GuessedShape(ReadLauncher(thread + rows + "y[r * width + i] = x[r * width + i];\n", "depth, 256"), "y"),
            json({"depth", "width"}));
}

// Subscripts that differ say nothing, and those of which a dimension is not known do not count.
TEST(ImportExtents, SubscriptsHaveToAgree) {
  const std::string row = "  int r = blockIdx.x * blockDim.x + threadIdx.x, other = r + 1;\n  if (r >= height) return;\n";
  EXPECT_EQ(GuessedShape(ReadLauncher(row + "  y[r * depth + 1] = x[r * depth + 1] + x[other * width + 2];\n"), "x"),
            json({"height", "depth"}));
  const ImportReply differ = ReadLauncher(row + "  y[r * depth + 1] = x[r * depth + 1] + x[r * width + 2];\n");
  EXPECT_NE(GuessedShape(differ, "x"), json({"height", "depth"}));
  EXPECT_NE(GuessedShape(differ, "x"), json({"height", "width"}));
}

// A kernel may go through all elements, and another one through the rows of them.
TEST(ImportExtents, AFlatSubscriptAgreesWithRows) {
  const ImportReply reply = Read(R"(
__global__ void scale(float* m, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) m[i] *= 2.0f;
}
__global__ void sums(const float* m, float* s, int rows, int columns) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r < rows) {
    float sum = 0;
    for (int c = 0; c < columns; ++c) sum += m[r * columns + c];
    s[r] = sum;
  }
}
void run(float* m, float* s, int rows, int columns) {
  scale<<<(rows * columns + 255) / 256, 256>>>(m, rows * columns);
  sums<<<(rows + 255) / 256, 256>>>(m, s, rows, columns);
}
)");
  EXPECT_EQ(GuessedShape(reply, "m"), json({"rows", "columns"}));
  EXPECT_EQ(GuessedShape(reply, "s"), json({"rows"}));
}

// Heads of attentions are never long, and the same in every case if nothing says how long.
TEST(ImportExtents, HeadsAreShort) {
  const ImportReply reply = Read(R"(
__global__ void scores(const float* q, const float* k, float* s, int length, int head_dim) {
  int row = blockIdx.x * blockDim.x + threadIdx.x, column = blockIdx.y;
  if (row >= length) return;
  float sum = 0;
  for (int i = 0; i < head_dim; i++) sum += q[row * head_dim + i] * k[column * head_dim + i];
  s[row * length + column] = sum;
}
void run(const float* q, const float* k, float* s, int length, int head_dim) {
  scores<<<dim3((length + 63) / 64, length), 64>>>(q, k, s, length, head_dim);
}
)");
  EXPECT_EQ(QuestionOf(reply, "head_dim").guess, "64");
  EXPECT_EQ(QuestionOf(reply, "length").guess, "1024");
  EXPECT_EQ(TaskOf(reply).at("cases").at("search").at(0).at("sizes").at("head_dim"), 64);
}

}  // namespace
}  // namespace evo
