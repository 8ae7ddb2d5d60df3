#pragma once

#include <boost/describe/class.hpp>
#include <boost/describe/members.hpp>
#include <boost/mp11/algorithm.hpp>
#include <type_traits>

namespace evo {

// A struct whose fields are listed once, by BOOST_DESCRIBE_STRUCT next to its definition. That list serves JSON and worker
// messages (core/record_json.h), database columns and the output of commands (db/record_columns.h).
template <typename T>
concept DescribedRecord = boost::describe::has_describe_members<T>::value && std::is_class_v<T>;

// Calls visit(name, field) for every field of `record`, in the order of the list. `name` is a string literal.
template <typename Record, typename Visit>
void ForEachField(Record& record, Visit&& visit) {
  using Members = boost::describe::describe_members<std::remove_const_t<Record>, boost::describe::mod_public>;
  boost::mp11::mp_for_each<Members>([&](auto member) { visit(member.name, record.*member.pointer); });
}

}  // namespace evo
