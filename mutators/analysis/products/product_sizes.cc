#include <algorithm>
#include <cstdint>
#include <string>

#include "mutators/analysis/products/product_finder.h"

namespace evo {
namespace {

// The sizes of the launch line in two launches of which all threads are run. Those of the first are larger than most numbers of
// kernels, such as the sizes of tiles.
constexpr std::int64_t kProductSizes[2][6] = {{35, 41, 37, 44, 47, 50}, {19, 38, 11, 22, 25, 28}};
// The same where the threads of a block run together, which takes longer.
constexpr std::int64_t kProductSizesOfBlocks[2][6] = {{19, 21, 18, 23, 25, 27}, {7, 18, 21, 9, 11, 13}};
// The same for kernels that take whole tiles only.
constexpr std::int64_t kProductSizesOfTiles[2][6] = {{64, 128, 32, 96, 160, 192}, {128, 64, 96, 32, 192, 160}};
// Odd numbers of the elements that are accessed at once; the second where these are many.
constexpr std::int64_t kProductSizesOfFew[2][6] = {{17, 15, 19, 21, 23, 25}, {9, 13, 11, 7, 5, 3}};
constexpr std::int64_t kProductSizesOfMany[2][6] = {{9, 13, 11, 7, 15, 5}, {5, 7, 9, 11, 3, 13}};
// Where a matrix may have as many rows as a product of two sizes.
constexpr std::int64_t kProductSizesOfProducts[2][6] = {{3, 5, 4, 7, 2, 6}, {4, 3, 5, 2, 6, 7}};
constexpr std::int64_t kFewAtOnce = 4;
// The smallest of the sizes of tiles, and the largest tile that the blocks of a launch line may be for.
constexpr std::int64_t kSmallestTile = 64, kLargestTile = 256;

}  // namespace

// A size that is as it is an axis of the grid: the last of three, or one that is nothing else.
void ProductFinder::FindBatchAxis(const LaunchDirective& launch) {
  const auto names = [](const std::string& name, const Expression& expression) {
    const auto all = expression.Names();
    return std::find(all.begin(), all.end(), name) != all.end();
  };
  for (std::size_t axis = launch.grid.size(); axis-- > 1 && sizes_.batch_axis < 0;) {
    const std::string text = launch.grid[axis].text();
    if (std::find(runs_.names().begin(), runs_.names().end(), text) == runs_.names().end()) continue;
    bool only = true;
    for (std::size_t other = 0; other < launch.grid.size(); ++other)
      only = only && (other == axis || !names(text, launch.grid[other]));
    for (const Expression& dimension : launch.block) only = only && !names(text, dimension);
    for (const auto& [parameter, expression] : runs_.arguments()) only = only && (axis == 2 || !names(text, expression));
    if (only) sizes_.batch_axis = static_cast<int>(axis), sizes_.batch = text;
  }
}

// How many elements a block is for along the axes of the grid, by the sizes that their numbers of blocks are made of.
void ProductFinder::FindTiles(const LaunchDirective& launch) {
  for (const std::string& name : runs_.names()) {
    for (std::size_t axis = 0; axis < launch.grid.size(); ++axis) {
      const auto all = launch.grid[axis].Names();
      if (std::find(all.begin(), all.end(), name) == all.end()) continue;
      const auto blocks = [&](std::int64_t size) {
        LaunchRuns::Sizes sizes;
        for (const std::string& other : runs_.names()) sizes[other] = other == name ? size : kLargestTile;
        const auto setting = runs_.SettingOf(sizes);
        return setting ? setting->grid[axis] : 0;
      };
      std::int64_t tile = kSmallestTile;
      while (tile < kLargestTile && blocks(2 * tile) != 2 * blocks(tile)) tile *= 2;
      sizes_.tiles[name] = std::max(sizes_.tiles[name], tile);
    }
  }
}

std::int64_t ProductFinder::BatchOf(const LaunchRuns::Setting& setting, std::int64_t thread) const {
  if (sizes_.batch_axis < 0) return 0;
  return LaunchRuns::BuiltinsOf(setting, thread).at(BuiltinSymbol("blockIdx", static_cast<std::size_t>(sizes_.batch_axis)));
}

std::int64_t ProductFinder::TileOf(const std::string& name) const {
  const auto tile = sizes_.tiles.find(name);
  return tile == sizes_.tiles.end() ? kSmallestTile : tile->second;
}

std::int64_t ProductFinder::SizeOf(std::size_t number, std::size_t place) const {
  if (sizes_.of.tiles) return kProductSizesOfTiles[number][place] * TileOf(runs_.names()[place]) / kSmallestTile;
  if (sizes_.of.products) return kProductSizesOfProducts[number][place];
  const std::int64_t multiple = sizes_.of.multiple;
  if (multiple > 1) return multiple * (multiple > kFewAtOnce ? kProductSizesOfMany : kProductSizesOfFew)[number][place];
  return (runs_.together() ? kProductSizesOfBlocks : kProductSizes)[number][place];
}

}  // namespace evo
