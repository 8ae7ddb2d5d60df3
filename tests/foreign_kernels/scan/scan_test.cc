#include "tests/foreign_kernels/row_and_grid_kernels.h"

namespace evo {
namespace {

using ForeignScans = ForeignKernelTest;

TEST_F(ForeignScans, LookBackScan) {
  Check("look_back_scan",
        {{"01_three_kernels_hillis_steele"},
         {"02_blelloch_padded"},
         {"03_kogge_stone_double_buffer"},
         {"04_brent_kung"},
         {"05_coarsened_three_phases"},
         {"06_warp_shuffles"},
         {"07_same_kernel_on_two_levels"},
         {"08_one_block"},
         {"09_recursive_doubling_in_memory", "the launches: they are in a loop, such as one launch for each distance"},
         {"10_segmented", "the launches: data decides `heads[i]`"},
         {"11_exclusive_macros"},
         {"12_atomic_carry"},
         {"13_two_elements_a_thread"},
         {"14_tiles_of_a_warp"},
         {"15_one_block_goes_along"},
         {"16_reduce_then_scan"},
         {"17_functor_and_flags"},
         {"18_chained_by_tickets"},
         {"19_one_block_of_chunks"},
         {"20_four_items_shuffles"},
         {"21_operator_struct"},
         {"22_three_levels"},
         {"23_one_thread"},
         {"24_positions_of_kept", "the launches: data decides `keys[i] < limit`"},
         {"25_look_back_by_hand", "the launches: `state` is read while another thread writes it"},
         {"26_every_thread_from_the_start"},
         // Written together with what they need.
         {"27_doubles_exclusive"},
         {"28_levels_of_one_functor"},
         {"29_row_pointers"},
         {"30_offsets_and_a_mark", "the launches: Y[37] is not the sum of all"},
         {"31_as_many_threads"},
         {"32_section_scans_and_sums"},
         {"33_sections_without_a_bound"},
         {"34_textbook_prescan"},
         {"35_whole_blocks_only"},
         {"36_four_at_once"},
         {"37_arrays_by_reference"},
         {"38_sections_then_shifted"},
         {"39_short_sections_and_offsets"},
         {"40_vectors_reduced_first"},
         {"41_rows_in_chunks"},
         {"42_size_of_the_block"},
         {"43_swapped_distances"},
         {"44_distances_in_scratch"},
         {"45_numbers_alone"},
         {"46_as_many_as_fit"},
         {"47_section_is_a_size"},
         {"48_chunk_is_a_size"},
         {"49_warps_of_rows"},
         {"50_whole_sections_in_place"},
         {"51_copied_to_where_it_was_read"},
         {"52_prepared_then_swapped"},
         {"53_rows_of_one_block"},
         {"54_sweeps_of_launches"},
         {"55_flags_and_their_number"},
         {"56_shorts_in_sections"},
         {"57_whole_sections_of_a_rounded_grid"},
         {"58_scans_of_tiles"},
         {"59_bytes_of_rows"},
         {"60_shifted_out_of_range"},
         {"61_as_many_as_two_of_each_thread"},
         {"62_pixels_of_an_image"},
         {"63_steps_by_logarithm"},
         {"64_rows_of_whole_vectors"}});
}

TEST_F(ForeignScans, NearMisses) {
  // A total that lacks its last element, and sections of which only some have what is before them.
  Refuses("look_back_scan", "32_section_scans_and_sums", "totals[blockIdx.x] = v;", "totals[blockIdx.x] = v - in[i];",
          "the launches: ");
  Refuses("look_back_scan", "32_section_scans_and_sums", "if (i < n) out[i] = v;",
          "if (i < n) out[i] = blockIdx.x == 2 ? v + in[0] : v;", "the launches: ");
  Refuses("look_back_scan", "33_sections_without_a_bound", "if (t == 0) temp[127] = 0;", "", "the launches: ");
  // Another number of a vector, vectors that begin between others, and a sum that is not that of the items.
  Refuses("look_back_scan", "36_four_at_once", "before + v.x + v.y + v.z)", "before + v.x + v.y + v.w)", "is no prefix sum");
  Refuses("look_back_scan", "36_four_at_once", "reinterpret_cast<const int4 *>(in)[base / 4]",
          "reinterpret_cast<const int4 *>(in + 1)[base / 4]", "do not begin at a multiple of that");
  Refuses("look_back_scan", "37_arrays_by_reference", "*aggregate = sum;", "*aggregate = sum + 1;", "is no prefix sum");
  Refuses("look_back_scan", "37_arrays_by_reference", "before = t > 0 ? smem[t - 1] : 0;", "before = smem[t];",
          "is no prefix sum");
}

TEST_F(ForeignScans, NearMissesOfStepsByALogarithm) {
  for (const char* other : {"ceilf(-log2f(", "ceilf(log2f(-"})
    Refuses("look_back_scan", "63_steps_by_logarithm", "ceilf(log2f(", other, "the launches: ");
}

TEST_F(ForeignScans, NearMissesOfOneLaunchAndOfRows) {
  const char* const other = "the launches: ";
  // A section whose first element has more, and one whose sum is not its own.
  Refuses("look_back_scan", "38_sections_then_shifted", "out[i] = v;", "out[i] = i % 64 == 0 && i > 0 ? v + in[0] : v;", other);
  Refuses("look_back_scan", "38_sections_then_shifted", "warps[t / 32 - 1]", "warps[0]", other);
  Refuses("look_back_scan", "39_short_sections_and_offsets", "s[blockDim.x - 1];", "s[blockDim.x - 2];", other);
  Refuses("look_back_scan", "39_short_sections_and_offsets", "d < blockDim.x", "d < 4", other);
  // The wrong number of a vector, a tile from the wrong place, and sums that are no sums where there are many tiles.
  Refuses("look_back_scan", "40_vectors_reduced_first", "r.w = r.z + v.z", "r.w = r.z + v.w", other);
  Refuses("look_back_scan", "40_vectors_reduced_first", "total) + offsets[blockIdx.x]", "total) + offsets[blockIdx.x / 2]",
          other);
  Refuses("look_back_scan", "40_vectors_reduced_first", "carry += total;", "carry = total;", other);
  Refuses("look_back_scan", "40_vectors_reduced_first", "carry += total;", "", other);
  // A row that goes on where the one before ended, rows of another length, and chunks that lose what is before them.
  const std::string rows = "41_rows_in_chunks";
  Refuses("look_back_scan", rows, "if (t == 0) carry = 0;", "if (t == 0) carry = blockIdx.x == 0 ? T(0) : in[0];", "(silence)");
  Refuses("look_back_scan", rows, "out + (size_t)blockIdx.x * columns", "out + (size_t)blockIdx.x * (columns + 1)", "(silence)");
  Refuses("look_back_scan", rows, "carry += chunk[t]", "carry = chunk[t]", "(silence)");
  Refuses("look_back_scan", rows, "y[i] = chunk[t] + carry", "y[i] = chunk[t]", "(silence)");
  // A distance too few, and others.
  const char* const loop = "they are in a loop, such as one launch for each distance";
  Refuses("look_back_scan", "43_swapped_distances", "K < ceil_log(N, 2)", "K < ceil_log(N, 2) - 1", loop);
  Refuses("look_back_scan", "43_swapped_distances", "K < ceil_log(N, 2)", "K < 13", loop);
  Refuses("look_back_scan", "43_swapped_distances", "from[i - distance]", "from[i - distance / 2]", loop);
  Refuses("look_back_scan", "43_swapped_distances", "to[i] = from[i];", "to[i] = 0;", loop);
  Refuses("look_back_scan", "44_distances_in_scratch", "// evo:swap A B\n", "", loop);
  Refuses("look_back_scan", "44_distances_in_scratch", "in[i] + in[i", "in[i] - in[i", loop);
  Refuses("look_back_scan", "42_size_of_the_block", "int d = 1; d < N;", "int d = 1; d < N / 2;", other);
  Refuses("look_back_scan", "42_size_of_the_block", "d > 0; d /= 2", "d > 1; d /= 2", other);
}

TEST_F(ForeignScans, NearMissesOfSizes) {
  const char* const why = "the launches: ";
  // A step too few, a root that is not cleared, and a half that stays where it was.
  Refuses("look_back_scan", "45_numbers_alone", "d = 1; d < kAll;", "d = 1; d < kAll / 4;", "(silence)");
  Refuses("look_back_scan", "45_numbers_alone", "if (t == 0) s[kAll - 1] = 0;", "", "(silence)");
  Refuses("look_back_scan", "45_numbers_alone", "out[2 * t + 1] = s[2 * t + 1]", "out[2 * t + 1] = s[2 * t]", "(silence)");
  Refuses("look_back_scan", "46_as_many_as_fit", "sum + ends[warp - 1]", "sum + ends[0]", why);
  Refuses("look_back_scan", "46_as_many_as_fit", "if (t < n) y[t]", "if (t < n - 1) y[t]", why);
  Refuses("look_back_scan", "47_section_is_a_size", "before = sums[blockIdx.x - 1]", "before = sums[blockIdx.x / 2]", why);
  Refuses("look_back_scan", "47_section_is_a_size", "SECTION / 4; d > 0", "SECTION / 4; d > 1", why);
  Refuses("look_back_scan", "48_chunk_is_a_size", "end = min(begin + chunk, n);\n  float carry",
          "end = min(begin + 100, n);\n  float carry", why);
  Refuses("look_back_scan", "48_chunk_is_a_size", "carry + mine - value", "carry + mine", why);
  Refuses("look_back_scan", "49_warps_of_rows", "value, 31)", "value, 30)", "(silence)");
  Refuses("look_back_scan", "49_warps_of_rows", "blockIdx.y * blockDim.y + threadIdx.y", "blockIdx.y * 2 + threadIdx.y",
          "(silence)");
  Refuses("look_back_scan", "50_whole_sections_in_place", "if (threadIdx.x == 63) sums[", "if (threadIdx.x == 62) sums[", why);
}

TEST_F(ForeignScans, NearMissesOfLoops) {
  const char* const loop = "they are in a loop, such as one launch for each distance";
  // A distance too few, a copy of a part, of something else, and to another place.
  const std::string copied = "51_copied_to_where_it_was_read";
  Refuses("look_back_scan", copied, "K < ceil_log(N + 1, 2)", "K < ceil_log(N + 1, 2) - 2", loop);
  Refuses("look_back_scan", copied, "i < count", "i < count - 1", loop);
  Refuses("look_back_scan", copied, "to[i] = from[i];\n}", "to[i] = from[i] + 1;\n}", loop);
  Refuses("look_back_scan", copied, "to[i] = from[i];\n}", "to[count - 1 - i] = from[i];\n}", loop);
  // Names behind the loop depend on its turns; the loop of another kernel's buffers, and sums that are none.
  const std::string swapped = "52_prepared_then_swapped",
                    areas = "// evo:launch areas(F, A, N) grid(ceil_div(N, 256)) block(256)\n";
  Refuses("look_back_scan", swapped, "// evo:end\n", "// evo:end\n// evo:launch areas(F, A, N) grid(1) block(1)\n", loop);
  Refuses("look_back_scan", swapped, "from[i - distance];", "from[i - 1];", loop);
  Refuses("look_back_scan", swapped, "K < ceil_log(N, 2)", "K < ceil_log(N, 2) - 1", loop);
  Refuses("look_back_scan", swapped, areas, areas + "// evo:launch reach(A, B, 1, N) grid(ceil_div(N, 256)) block(256)\n", loop);
  const std::string rows = "53_rows_of_one_block";
  Refuses("look_back_scan", rows, "d < n; d <<= 1", "d < n / 2; d <<= 1", "(silence)");
  Refuses("look_back_scan", rows, "row = blockIdx.x * n", "row = blockIdx.x * 64", "(silence)");
  Refuses("look_back_scan", rows, "block(power(2, ceil_log(C, 2)))", "block(32 * power(2, ceil_log(C, 2)))", "(silence)");
  const std::string sweeps = "54_sweeps_of_launches";
  Refuses("look_back_scan", sweeps, "i64(N - 1)", "i64(N / 2)", loop);
  Refuses("look_back_scan", sweeps, "tree[at] = 0", "tree[at] = 1", loop);
  Refuses("look_back_scan", sweeps, "D < ceil_log(N, 2)", "D < ceil_log(N, 2) - 1", loop);
  Refuses("look_back_scan", sweeps, "tree[k - step] = tree[k];", "tree[k - step] = left;", loop);
}

TEST_F(ForeignScans, NearMissesOfShorterElements) {
  const char* const why = "the launches: ";
  // A number that is not all, one that is changed, flags that are no numbers any more, and sums that wrap where elements do.
  const std::string flags = "55_flags_and_their_number";
  Refuses("look_back_scan", flags, "*number = so_far;", "*number = so_far - 1;", why);
  Refuses("look_back_scan", flags, "*number = so_far;", "*number += so_far;", why);
  Refuses("look_back_scan", flags, "*number = so_far;", "number[n / 2] = so_far;", why);
  Refuses("look_back_scan", flags, "i < n ? flag[i] : 0", "i < n ? flag[i] * flag[i] : 0", why);
  Refuses("look_back_scan", flags, "__shared__ int s[STRIP]", "__shared__ unsigned char s[STRIP]", why);
  Refuses("look_back_scan", "56_shorts_in_sections", "__shared__ int s[64]", "__shared__ short s[64]", why);
  Refuses("look_back_scan", "56_shorts_in_sections", "s[t] += x[i]", "s[t] = (signed char)x[i]", why);
  Refuses("look_back_scan", "56_shorts_in_sections", "if (i < n) s[t] += x[i];",
          "short own = i < n ? x[i] : 0;\n  own++;\n  s[t] = own;", why);
  Refuses("look_back_scan", "59_bytes_of_rows", "sum += a[row + x];\n    s[row", "sum += a[row];\n    s[row", "(silence)");
  Refuses("look_back_scan", "59_bytes_of_rows", "unsigned sum = 0;\n  for (int x", "unsigned char sum = 0;\n  for (int x",
          "(silence)");
}

TEST_F(ForeignScans, NearMissesOfWholeSections) {
  const char* const why = "the launches: ";
  Refuses("look_back_scan", "58_scans_of_tiles", "exclusive_scan", "inclusive_scan", why);
  Refuses("look_back_scan", "60_shifted_out_of_range", "d > 0; d >>= 1", "d > 1; d >>= 1", why);
  Refuses("look_back_scan", "61_as_many_as_two_of_each_thread", "out[2 * t + 1] = s[2 * t + 1]", "out[2 * t + 1] = s[2 * t]",
          why);
  Refuses("look_back_scan", "62_pixels_of_an_image", "before += own;", "before = own;", "(silence)");
  Refuses("look_back_scan", "62_pixels_of_an_image", "add_before(S, ends, H * W)", "add_before(S, ends, W)", "(silence)");
  // Of the last elements only: more than any run has.
  const std::string naive = "26_every_thread_from_the_start";
  Refuses("look_back_scan", naive, "size_t j = 0; j <= gid", "size_t j = gid < 1500 ? 0 : gid - 1500; j <= gid", why);
  Refuses("look_back_scan", naive, "size_t j = 0; j <= gid", "size_t j = gid < 5000 ? 0 : gid - 5000; j <= gid", why);
}

// Where the launches together are no scan, one of them still scans sections by themselves.
TEST_F(ForeignScans, WholeSectionsOfAll) {
  const std::string text =
      LoadTemplate(std::filesystem::path(EVO_FOREIGN_KERNELS) / "57_whole_sections_of_a_rounded_grid.cu").text;
  const auto lines_of = [&](const std::string& source) {
    const Parent parent(ParseTemplate("kernel", source));
    std::string lines;
    for (const Proposal& proposal : SourceMutatorNamed("look_back_scan").Proposals(parent.Context())) {
      for (const LaunchChange& change : proposal.launch) lines += change.text + "\n";
    }
    return lines;
  };
  EXPECT_THAT(lines_of(text), testing::HasSubstr("when(N % 64 == 0 && N <= 65536)"));
  for (const auto& [from, to] :
       {std::pair("(b + 1) * 64 - 1", "(b + 1) * 64 - 2"), std::pair("ends[blockIdx.x - 1]", "ends[blockIdx.x / 2]"),
        std::pair("d < sections; d *= 2", "d < 4; d *= 2")})
    EXPECT_THAT(lines_of(With(text, from, to)), testing::Not(testing::HasSubstr("when(N % 64"))) << to;
  EXPECT_THAT(lines_of(With(text, "__shared__ int s[1024];\n  const int t = threadIdx.x;\n  s[t] = ends[t];",
                            "__shared__ int s[1024];\n  const int t = threadIdx.x;\n  s[t] = t < 100 ? ends[t] : 0;")),
              testing::HasSubstr("N <= 6400)"));
}

// What one block does with the sums of all others is tried with many of them, whatever the blocks are.
TEST_F(ForeignScans, SumsInManyRounds) {
  const std::string text = LoadTemplate(std::filesystem::path(EVO_FOREIGN_KERNELS) / "48_chunk_is_a_size.cu").text;
  const SourceMutator& mutator = SourceMutatorNamed("look_back_scan");
  const auto lines_of = [&](const std::string& source) {
    const Parent parent(ParseTemplate("kernel", source));
    std::string lines;
    for (const Proposal& proposal : mutator.Proposals(parent.Context())) {
      for (const LaunchChange& change : proposal.launch) lines += change.text + "\n";
    }
    return lines;
  };
  EXPECT_THAT(lines_of(text), testing::Not(testing::HasSubstr("when(")));
  // Wrong from the third round on.
  const std::string last = "carry = total;\n  }\n}\n\n__global__ void scan_again";
  const std::string third = With(text, "carry += total;\n  }\n}\n\n__global__ void scan_again", last);
  EXPECT_THAT(lines_of(third), testing::HasSubstr("when(N <= 128 * CHUNK)"));
}

}  // namespace
}  // namespace evo
