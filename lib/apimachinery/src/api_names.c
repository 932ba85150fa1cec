// SPDX-License-Identifier: Apache-2.0
/* Names and keys by the rules of Kubernetes (RFC 1123 and its own). */
#include <osb/api_meta.h>

enum {
    DNS_LABEL_MAX = 63,
    DNS_SUBDOMAIN_MAX = 253,
    LABEL_VALUE_MAX = 63,
    QUALIFIED_NAME_MAX = 63, /* the part behind the slash */
};

static bool is_lower_alnum(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

static bool is_alnum(char c)
{
    return is_lower_alnum(c) || (c >= 'A' && c <= 'Z');
}

bool osb_api_is_dns_label(struct osb_slice s)
{
    if (s.len == 0 || s.len > DNS_LABEL_MAX)
        return false;
    for (size_t i = 0; i < s.len; i++)
        if (!is_lower_alnum(s.data[i]) && s.data[i] != '-')
            return false;
    return s.data[0] != '-' && s.data[s.len - 1] != '-';
}

/* Unlike in the DNS, a part of a subdomain may be longer than 63 here. */
static bool is_subdomain_part(struct osb_slice s)
{
    if (s.len == 0 || s.data[0] == '-' || s.data[s.len - 1] == '-')
        return false;
    for (size_t i = 0; i < s.len; i++)
        if (!is_lower_alnum(s.data[i]) && s.data[i] != '-')
            return false;
    return true;
}

bool osb_api_is_dns_subdomain(struct osb_slice s)
{
    struct osb_slice rest = s;
    struct osb_slice part;
    /* A trailing dot would be an empty last part, which the split does not show. */
    if (s.len == 0 || s.len > DNS_SUBDOMAIN_MAX || s.data[s.len - 1] == '.')
        return false;
    while (osb_slice_split(&rest, '.', &part))
        if (!is_subdomain_part(part))
            return false;
    return true;
}

/* Letters, digits, "-", "_" and "."; a letter or digit at both ends. */
static bool is_name_text(struct osb_slice s)
{
    if (s.len == 0 || !is_alnum(s.data[0]) || !is_alnum(s.data[s.len - 1]))
        return false;
    for (size_t i = 0; i < s.len; i++)
        if (!is_alnum(s.data[i]) && s.data[i] != '-' && s.data[i] != '_' && s.data[i] != '.')
            return false;
    return true;
}

bool osb_api_is_label_value(struct osb_slice s)
{
    return s.len == 0 || (s.len <= LABEL_VALUE_MAX && is_name_text(s));
}

bool osb_api_is_qualified_name(struct osb_slice s)
{
    ptrdiff_t slash = osb_slice_find(s, '/');
    struct osb_slice name = s;
    if (slash >= 0) {
        if (!osb_api_is_dns_subdomain(osb_slice_first(s, (size_t)slash)))
            return false;
        name = osb_slice_from(s, (size_t)slash + 1);
    }
    return name.len <= QUALIFIED_NAME_MAX && is_name_text(name);
}
