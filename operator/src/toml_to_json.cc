// SPDX-License-Identifier: Apache-2.0
#include "toml_to_json.h"

#include <cstdio>
#include <cstring>
#include <sstream>
#include <string>
#include <string_view>

#define TOML_EXCEPTIONS          0
#define TOML_HEADER_ONLY         1
#define TOML_UNRELEASED_FEATURES 0
#include <toml++/toml.h>

char *toml_to_json(const char *text, size_t len, char *error, size_t error_size)
{
    const toml::parse_result result = toml::parse(std::string_view{text, len});
    if (!result) {
        const toml::parse_error &why = result.error();
        const std::string_view what = why.description();
        std::snprintf(error, error_size, "line %u, column %u: %.*s",
                      static_cast<unsigned>(why.source().begin.line),
                      static_cast<unsigned>(why.source().begin.column),
                      static_cast<int>(what.size()), what.data());
        return nullptr;
    }
    std::ostringstream out;
    out << toml::json_formatter{result.table()};
    return strdup(out.str().c_str());
}
