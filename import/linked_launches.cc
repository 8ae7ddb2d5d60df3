#include "import/linked_launches.h"

#include <algorithm>

namespace evo {
namespace {

constexpr int kMostOfOneThread = 32;  // elements that a thread writes without a loop

class LaunchLinks {
 public:
  LaunchLinks(const SourceProgram& program, HostCode& host) : program_(program), host_(host) {}

  // Without launches that compute once more what one before them has: they overwrite all that it wrote, and nothing between them
  // has read that.
  std::vector<TakenLaunch> WithoutVersions(std::vector<TakenLaunch> all) const {
    std::vector<TakenLaunch> kept;
    for (TakenLaunch& one : all) {
      const auto written = BuffersOf(one, &ParameterUse::written);
      const auto is_version = [&](const TakenLaunch& earlier) {
        const auto before = BuffersOf(earlier, &ParameterUse::written);
        const auto overwritten = [&](const HostCode::Pointer& buffer) {
          return std::find(written.begin(), written.end(), buffer) != written.end();
        };
        const auto read_since = [&](const TakenLaunch& between) { return &between > &earlier && HandsOn(earlier, between); };
        return earlier.kernel != one.kernel && !before.empty() && ReadOnly(earlier) == ReadOnly(one) && !ReadOnly(one).empty() &&
               std::all_of(before.begin(), before.end(), overwritten) && WritesAll(one, earlier) && !HandsOn(earlier, one) &&
               std::none_of(kept.begin(), kept.end(), read_since);
      };
      if (std::none_of(kept.begin(), kept.end(), is_version)) kept.push_back(std::move(one));
    }
    return kept;
  }

  // The first launch that writes anything, and those that it hands a buffer on to or gets one from, and so on. Of several such
  // groups the first of which the host copies something.
  std::vector<TakenLaunch> LinkedWithFirst(std::vector<TakenLaunch> all) const {
    std::vector<bool> seen(all.size(), false), taken;
    for (std::size_t at = 0; at < all.size(); ++at) {
      if (seen[at] || BuffersOf(all[at], &ParameterUse::written).empty()) continue;
      const std::vector<bool> group = LinkedWith(all, at);
      for (std::size_t i = 0; i < all.size(); ++i) seen[i] = seen[i] || group[i];
      const bool copied = IsCopied(all, group);
      if (taken.empty() || copied) taken = group;
      if (copied) break;
    }
    std::vector<TakenLaunch> linked;
    for (std::size_t i = 0; i < taken.size(); ++i) {
      if (taken[i]) linked.push_back(std::move(all[i]));
    }
    return linked;
  }

 private:
  // Whether the host copies what one of these launches writes.
  bool IsCopied(const std::vector<TakenLaunch>& all, const std::vector<bool>& group) const {
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!group[i]) continue;
      const auto written = BuffersOf(all[i], &ParameterUse::written);
      if (std::any_of(written.begin(), written.end(), [&](const auto& one) { return host_.IsCopiedFrom(one); })) return true;
    }
    return false;
  }

  std::vector<bool> LinkedWith(const std::vector<TakenLaunch>& all, std::size_t first) const {
    std::vector<bool> taken(all.size(), false);
    taken[first] = true;
    for (bool grows = true; grows;) {
      grows = false;
      for (std::size_t i = 0; i < all.size(); ++i) {
        for (std::size_t j = 0; j < all.size() && !taken[i]; ++j) {
          if (!taken[j] || i == j) continue;
          taken[i] = i < j ? HandsOn(all[i], all[j]) : HandsOn(all[j], all[i]) || Completes(all[j], all[i]);
          grows = grows || taken[i];
        }
      }
    }
    return taken;
  }

  // Whether a launch overwrites all that an earlier one has written, as far as is seen: not under a condition on where it is, and
  // with as many threads, or with loops.
  bool WritesAll(const TakenLaunch& one, const TakenLaunch& earlier) const {
    for (const auto& [name, use] : one.use.parameters) {
      if (use.written && use.partial) return false;
    }
    const auto threads = [&](const TakenLaunch& launch) {
      double count = 1;
      for (const auto* list : {&launch.grid, &launch.block}) {
        for (const HostExpression& part : *list) {
          const auto value = ValueOf(part, host_.Values());
          count *= value ? value->AsReal() : 0;
        }
      }
      return count;  // 0: not known
    };
    const double mine = threads(one), others = threads(earlier);
    return one.use.loops || mine == 0 || others == 0 || mine * kMostOfOneThread >= others;
  }

  // Whether a later launch writes another part of what an earlier one has written, from the same inputs. What the host has copied
  // back before is the whole result: the later launch computes it once more.
  bool Completes(const TakenLaunch& earlier, const TakenLaunch& later) const {
    const auto before = BuffersOf(earlier, &ParameterUse::written), after = BuffersOf(later, &ParameterUse::written);
    const auto is_common = [&](const HostCode::Pointer& one) {
      return std::find(after.begin(), after.end(), one) != after.end();
    };
    const auto is_copied = [&](const HostCode::Pointer& one) { return IsCopiedBetween(one, *earlier.launch, *later.launch); };
    return earlier.kernel != later.kernel && ReadOnly(earlier) == ReadOnly(later) && !ReadOnly(later).empty() &&
           std::any_of(before.begin(), before.end(), is_common) && !WritesAll(later, earlier) &&
           !std::any_of(before.begin(), before.end(), is_copied);
  }

  // Whether the host reads a buffer between two launches of one function.
  bool IsCopiedBetween(const HostCode::Pointer& buffer, const HostLaunch& from, const HostLaunch& to) const {
    return std::any_of(host_.calls().begin(), host_.calls().end(), [&](const HostCall& call) {
      return call.function == from.function && call.function == to.function && call.range.begin > from.range.end &&
             call.range.end < to.range.begin && call.name.starts_with("cudaMemcpy") && call.arguments.size() > 2 &&
             host_.Origin(call.arguments[1], call.function) == buffer;
    });
  }

  // Names of buffers that a launch reads and does not write, in order.
  std::vector<std::string> ReadOnly(const TakenLaunch& one) const {
    const auto written = BuffersOf(one, &ParameterUse::written);
    std::vector<std::string> names;
    for (const HostCode::Pointer& buffer : BuffersOf(one, &ParameterUse::read)) {
      if (std::find(written.begin(), written.end(), buffer) == written.end()) names.push_back(buffer.name);
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  // The buffers that a launch reads, or writes.
  std::vector<HostCode::Pointer> BuffersOf(const TakenLaunch& one, bool ParameterUse::*use) const {
    std::vector<HostCode::Pointer> found;
    const auto is_used = [&](const std::string& name) {
      const auto known = one.use.parameters.find(name);
      return known != one.use.parameters.end() && known->second.*use;
    };
    for (std::size_t i = 0; i < one.launch->arguments.size(); ++i) {
      const SourceRange& argument = one.launch->arguments[i];
      const std::string& name = one.kernel->parameters[i].name;
      if (IsPointerType(one.types[i])) {
        if (is_used(name)) found.push_back(host_.Origin(argument, one.launch->function));
        continue;
      }
      for (const ProgramParameter& field : FlatFieldsOf(program_, PointedType(one.types[i]))) {
        if (IsPointerType(field.type) && is_used(name + "." + field.name))
          found.push_back(host_.OfField(argument, PointedType(one.types[i]), field.name, one.launch->function));
      }
    }
    return found;
  }

  // Whether a launch writes a buffer that a later one reads.
  bool HandsOn(const TakenLaunch& from, const TakenLaunch& to) const {
    const auto written = BuffersOf(from, &ParameterUse::written), read = BuffersOf(to, &ParameterUse::read);
    // What the host fills anew in between is not handed on.
    const auto is_filled = [&](const HostCode::Pointer& one) {
      const auto calls = host_.CallsOn(one, "cudaMem");
      return std::any_of(calls.begin(), calls.end(), [&](const HostCall* call) {
        return call->range.begin > from.launch->range.end && call->range.end < to.launch->range.begin;
      });
    };
    return std::any_of(written.begin(), written.end(), [&](const HostCode::Pointer& one) {
      return std::find(read.begin(), read.end(), one) != read.end() && !is_filled(one);
    });
  }

  const SourceProgram& program_;
  HostCode& host_;
};

}  // namespace

bool IsBefore(const HostCode& host, const HostLaunch& a, const HostLaunch& b) {
  const auto first = host.PathTo(a), second = host.PathTo(b);
  return std::lexicographical_compare(first.begin(), first.end(), second.begin(), second.end(),
                                      [](const auto* x, const auto* y) { return x->range.begin < y->range.begin; });
}

std::vector<TakenLaunch> LinkedLaunches(const SourceProgram& program, HostCode& host, std::vector<TakenLaunch> launches) {
  const LaunchLinks links(program, host);
  launches = links.WithoutVersions(std::move(launches));
  return launches.size() > 1 ? links.LinkedWithFirst(std::move(launches)) : launches;
}

}  // namespace evo
