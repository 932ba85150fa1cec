// SPDX-License-Identifier: Apache-2.0
#include "multipart_head.h"

#include "chars.h"

static int syntax(struct osb_err *err, const char *message)
{
    return osb_fail(err, -OSB_E_SYNTAX, "multipart: %s", message);
}

/* ---- "; name=value" lists: RFC 9110 section 5.6.6 ---- */

static struct osb_slice skip_blanks(struct osb_slice s)
{
    while (s.len > 0 && (s.data[0] == ' ' || s.data[0] == '\t'))
        s = osb_slice_from(s, 1);
    return s;
}

static struct osb_slice cut_token(struct osb_slice *rest)
{
    size_t len = 0;
    while (len < rest->len && http_char_is(HTTP_CHARS_TOKEN, (unsigned char)rest->data[len]))
        len++;
    struct osb_slice token = osb_slice_first(*rest, len);
    *rest = osb_slice_from(*rest, len);
    return token;
}

/*
 * A backslash escapes a quote or a backslash only: browsers send Windows paths with single
 * backslashes and write a quote as %22.
 */
static bool cut_quoted(struct osb_slice *rest, struct osb_buf *out)
{
    for (size_t i = 1; i < rest->len; i++) {
        char c = rest->data[i];
        if (c == '"') {
            *rest = osb_slice_from(*rest, i + 1);
            return true;
        }
        if (c == '\\' && i + 1 < rest->len &&
            (rest->data[i + 1] == '"' || rest->data[i + 1] == '\\'))
            c = rest->data[++i];
        osb_buf_append_char(out, c);
    }
    return false;
}

/* The next parameter: 1 with name and value, 0 at the end, else an error. VALUE is cleared. */
static int next_param(struct osb_slice *rest, struct osb_slice *ret_name, struct osb_buf *value,
                      struct osb_err *err)
{
    osb_buf_clear(value);
    *rest = skip_blanks(*rest);
    if (rest->len == 0)
        return 0;
    if (rest->data[0] != ';')
        return syntax(err, "malformed parameter list");
    *rest = skip_blanks(osb_slice_from(*rest, 1));
    if (rest->len == 0)
        return 0; /* a last semicolon is often sent */
    *ret_name = cut_token(rest);
    if (ret_name->len == 0 || rest->len == 0 || rest->data[0] != '=')
        return syntax(err, "malformed parameter");
    *rest = osb_slice_from(*rest, 1);
    if (rest->len > 0 && rest->data[0] == '"') {
        if (!cut_quoted(rest, value))
            return syntax(err, "quoted string without an end");
        return 1;
    }
    struct osb_slice token = cut_token(rest);
    if (token.len == 0)
        return syntax(err, "parameter without a value");
    osb_buf_append_slice(value, token);
    return 1;
}

/* ---- the boundary ---- */

static bool is_boundary(struct osb_slice s)
{
    if (s.len == 0 || s.len > OSB_MULTIPART_MAX_BOUNDARY || s.data[s.len - 1] == ' ')
        return false;
    for (size_t i = 0; i < s.len; i++) {
        char c = s.data[i];
        bool is_alnum = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (!is_alnum && (c == '\0' || !strchr("'()+_,-./:=? ", c)))
            return false;
    }
    return true;
}

int multipart_boundary(struct osb_slice content_type, char boundary[OSB_MULTIPART_MAX_BOUNDARY],
                       size_t *ret_len, struct osb_err *err)
{
    _cleanup_buf_ struct osb_buf value = {0};
    ptrdiff_t semicolon = osb_slice_find(content_type, ';');
    struct osb_slice type =
        semicolon < 0 ? content_type : osb_slice_first(content_type, (size_t)semicolon);
    if (!osb_slice_ieq_str(osb_slice_trim(type), "multipart/form-data"))
        return osb_fail(err, -OSB_E_INVALID, "content type is not multipart/form-data");
    struct osb_slice rest = osb_slice_from(content_type, type.len);
    struct osb_slice name;
    for (int r; (r = next_param(&rest, &name, &value, err)) != 0;) {
        if (r < 0)
            return r;
        if (!osb_slice_ieq_str(name, "boundary"))
            continue;
        if (!is_boundary(osb_buf_slice(&value)))
            return syntax(err, "malformed boundary");
        memcpy(boundary, osb_buf_slice(&value).data, value.len);
        *ret_len = value.len;
        return 0;
    }
    return syntax(err, "content type without a boundary");
}

/* ---- the head of a part ---- */

static int parse_disposition(struct osb_slice value, struct multipart_part *part,
                             bool *ret_has_name, struct osb_err *err)
{
    _cleanup_buf_ struct osb_buf text = {0};
    struct osb_slice rest = value;
    struct osb_slice name;
    if (!osb_slice_ieq_str(cut_token(&rest), "form-data"))
        return syntax(err, "the disposition of a part is not form-data");
    for (int r; (r = next_param(&rest, &name, &text, err)) != 0;) {
        if (r < 0)
            return r;
        bool is_name = osb_slice_ieq_str(name, "name");
        bool is_filename = osb_slice_ieq_str(name, "filename");
        if ((is_name && *ret_has_name) || (is_filename && part->has_filename))
            return syntax(err, "a parameter is given twice");
        if (is_name || is_filename)
            osb_buf_append_slice(is_name ? &part->name : &part->filename, osb_buf_slice(&text));
        *ret_has_name |= is_name;
        part->has_filename |= is_filename;
    }
    return 0;
}

static int parse_line(struct osb_slice line, struct multipart_part *part, bool *has_name,
                      struct osb_err *err)
{
    ptrdiff_t colon = osb_slice_find(line, ':');
    if (colon < 0 || !http_is_token(osb_slice_first(line, (size_t)colon)))
        return syntax(err, "malformed header line");
    struct osb_slice name = osb_slice_first(line, (size_t)colon);
    struct osb_slice value = osb_slice_trim(osb_slice_from(line, (size_t)colon + 1));
    if (!http_chars_all(HTTP_CHARS_VALUE, value))
        return syntax(err, "control byte in a header value");
    if (osb_slice_ieq_str(name, "Content-Type"))
        part->content_type = value;
    if (!osb_slice_ieq_str(name, "Content-Disposition"))
        return 0;
    if (*has_name || part->has_filename)
        return syntax(err, "a part has two dispositions");
    return parse_disposition(value, part, has_name, err);
}

int multipart_parse_head(struct osb_slice head, struct multipart_part *part, struct osb_err *err)
{
    bool has_name = false;
    struct osb_slice line;
    while (osb_slice_split(&head, '\n', &line)) {
        if (line.len == 0)
            continue; /* behind the last line feed */
        if (line.data[line.len - 1] != '\r')
            return syntax(err, "line feed without carriage return");
        line = osb_slice_first(line, line.len - 1);
        if (line.len == 0)
            break;
        int r = parse_line(line, part, &has_name, err);
        if (r < 0)
            return r;
    }
    return has_name ? 0 : syntax(err, "a part has no name");
}
