#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mutators/analysis/grid_runs/launch_runs.h"
#include "mutators/analysis/products/product_roles.h"
#include "mutators/analysis/source/convolution_parts.h"
#include "mutators/mutator.h"

namespace evo {

// Which sizes a kernel is tried with.
struct ProductSizes {
  bool tiles = false;         // of whole tiles, for kernels that take nothing else
  std::int64_t multiple = 1;  // multiples of it, by an odd number: for kernels that access so many elements at once
  bool products = false;      // few, where products of two of them may be a matrix's size
};

// What a role is that is no parameter: a number or another parameter times one.
struct RoleFactors {
  int parameter = -1;
  std::int64_t number = 1;
  int times = -1;
};

// Runs the threads of a kernel on numbers and finds out whether they compute a matrix product, each sum in the order of k.
class ProductFinder {
 public:
  // The arguments must outlive the object. Without a loop in the parts, threads may store several sums each.
  ProductFinder(const MutationContext& context, int kernel, const LaunchDirective& launch, ConvolutionParts parts,
                ProductSizes sizes);

  // False if it is none.
  bool Find();
  const std::string& why() const { return why_; }
  // Whether other sizes may say more.
  bool ran() const { return sizes_.others; }
  // Whether its launch line has threads for sizes that are no multiples of tiles.
  bool has_threads() const { return sizes_.threads; }

  // How many elements it accesses at once, and how many where that was refused because sizes are no multiples of it.
  std::int64_t widest() const { return sizes_.widest; }
  std::int64_t misaligned() const { return sizes_.misaligned; }
  // Of a role that is no parameter, its factors; else itself.
  RoleFactors FactorsOf(int role) const;
  // Whether fewer threads may say more.
  bool many_threads() const { return sizes_.many; }
  // Whether it sums up integers.
  bool of_integers() const { return sizes_.whole; }
  // Whether it compares real numbers.
  bool compares() const { return sizes_.compares; }

  const ConvolutionParts& parts() const { return parts_; }
  const ProductRoles& roles() const { return roles_; }
  const ProductLaunch& launch(std::size_t number) const { return launches_[number]; }
  // The parameter to which sums are stored.
  int output() const { return output_; }
  // What the kernel writes.
  const std::set<int>& written() const { return written_; }
  const LaunchRuns& runs() const { return runs_; }
  // The axis of the grid along which there are several products; -1 if there is one.
  int batch_axis() const { return sizes_.batch_axis; }

 private:
  bool Refuse(std::string why);
  std::vector<ProductSum> PlainSums(const LaunchRuns::Setting& setting, std::int64_t thread, const ThreadTrace& trace);
  std::vector<ProductSum> SumsOf(const LaunchRuns::Setting& setting, std::int64_t thread);
  void FindBatchAxis(const LaunchDirective& launch);
  void FindTiles(const LaunchDirective& launch);
  std::int64_t BatchOf(const LaunchRuns::Setting& setting, std::int64_t thread) const;
  bool RunAll(std::size_t number);
  std::int64_t TileOf(const std::string& name) const;
  std::int64_t SizeOf(std::size_t number, std::size_t place) const;
  void AddRole(RoleFactors factors, std::vector<int>& integers);
  void AddMultiples(LaunchRuns::Setting& setting) const;
  bool FindRoles();
  bool RunLarge();
  bool IsAllowed(int symbol, const std::set<int>& used) const;
  bool CheckDeciding();

  const SyntaxTree& tree_;
  ConvolutionParts parts_;
  // Which sizes are tried, whether others may say more, and whether there are threads with these.
  struct Tried {
    ProductSizes of;
    bool others = false, threads = true, whole = false, compares = false;
    std::int64_t widest = 1, misaligned = 0;
    std::map<int, RoleFactors> multiples{};  // of parameters, as roles
    bool many = false;
    // The axis of the grid along which there are several products, and the size of the launch line that is their number.
    int batch_axis = -1;
    std::string batch{};
    std::map<std::string, std::int64_t> tiles{};  // of the launch line, by the size that they are parts of
  };
  Tried sizes_;
  std::set<int> written_;
  LaunchRuns runs_;
  ProductLaunch launches_[2];
  std::set<int> read_;  // buffers
  int output_ = -1;
  std::int64_t largest_ = 0;
  ProductRoles roles_;
  std::string why_;
};

// Why it is refused if each thread should store one element.
inline constexpr std::string_view kSeveralElements = "a thread stores more than one element";
// And if the sizes of its matrices are not known.
inline constexpr std::string_view kNoProductOfMatrices = "run on numbers, what it sums up is no product of two matrices";

}  // namespace evo
