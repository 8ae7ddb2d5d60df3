#pragma once

#include <nlohmann/json.hpp>

// Every test program would compile these members anew, a tenth of what compiling one costs; tests/json_instance.cc has them.
extern template class nlohmann::basic_json<>;
