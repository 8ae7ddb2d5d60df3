#include "cli/stored_options.h"

#include <fmt/format.h>

#include <array>
#include <boost/describe.hpp>
#include <boost/mp11.hpp>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "core/error.h"
#include "core/json_error.h"

// As the three numbers that it consists of, in their order.
template <>
struct nlohmann::adl_serializer<evo::OperatorReward> {
  static void to_json(json& out, const evo::OperatorReward& reward) { out = {reward.tries, reward.fresh, reward.log_gain}; }
  static void from_json(const json& in, evo::OperatorReward& reward) {
    const auto numbers = in.get<std::array<double, 3>>();
    reward = {numbers[0], numbers[1], numbers[2]};
  }
};

namespace evo {

BOOST_DESCRIBE_STRUCT(StoredReplay, (), (database, runs, missing))
BOOST_DESCRIBE_STRUCT(StoredOptions, (),
                      (definitions, ordinals, surrogate, minimise, proven_only, baseline_apart, operators, evaluations,
                       header_folders, shapes, sweep, rewards, rewards_by_bottleneck, restructuring, kernel_kind, replay,
                       early_children, early_candidates, executor))

namespace {

using nlohmann::json;

template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};

template <class T>
using Members = boost::describe::describe_members<T, boost::describe::mod_public>;

template <class T>
json ToJson(const T& value) {
  if constexpr (boost::describe::has_describe_members<T>::value) {
    json out = json::object();
    boost::mp11::mp_for_each<Members<T>>([&](auto member) {
      const auto& field = value.*member.pointer;
      if constexpr (IsOptional<std::decay_t<decltype(field)>>::value) {
        if (field) out[member.name] = ToJson(*field);
      } else {
        out[member.name] = ToJson(field);
      }
    });
    return out;
  } else {
    return value;
  }
}

template <class T>
void Read(const json& in, T& value) {
  if constexpr (boost::describe::has_describe_members<T>::value) {
    boost::mp11::mp_for_each<Members<T>>([&](auto member) {
      const auto found = in.find(member.name);
      if (found == in.end()) return;
      auto& field = value.*member.pointer;
      try {
        if constexpr (IsOptional<std::decay_t<decltype(field)>>::value) {
          Read(*found, field.emplace());
        } else {
          Read(*found, field);
        }
      } catch (const JsonError& error) {
        throw error.Below(member.name);
      }
    });
  } else {
    ReadJson(in, value);
  }
}

}  // namespace

std::string ToText(const StoredOptions& options) { return ToJson(options).dump(); }

StoredOptions OptionsOf(const RunRecord& run) {
  StoredOptions options;
  if (run.options.empty()) return options;
  try {
    const json stored = json::parse(run.options);
    if (!stored.is_object()) throw Error("not a JSON object");
    Read(stored, options);
    return options;
  } catch (const std::exception& error) {
    throw Error(fmt::format("run {}: its stored options cannot be read ({}); go back to a copy of the database", run.id,
                            PlainText(error)));
  }
}

std::optional<StoredOptions> ReadableOptions(const RunRecord& run) {
  try {
    return OptionsOf(run);
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace evo
