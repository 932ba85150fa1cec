// SPDX-License-Identifier: Apache-2.0
// First line: a content type; the rest: a body, with the same parts at once and byte by byte.
#include <osb/buf.h>
#include <osb/multipart.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int on_part(struct osb_slice name, bool has_filename, struct osb_slice filename,
                   struct osb_slice content_type, void *arg)
{
    osb_buf_appendf(arg, "\n[%zu %d %zu %zu]\n", name.len, has_filename, filename.len,
                    content_type.len);
    osb_buf_append_slice(arg, name);
    osb_buf_append_slice(arg, filename);
    osb_buf_append_slice(arg, content_type);
    return 0;
}

static int on_data(struct osb_slice data, void *arg)
{
    osb_assert(data.len > 0);
    osb_buf_append_slice(arg, data);
    return 0;
}

static int on_part_end(void *arg)
{
    osb_buf_append_str(arg, "\n[end]\n");
    return 0;
}

static int read_all(struct osb_slice type, struct osb_slice body, size_t step, struct osb_buf *out)
{
    static const struct osb_multipart_callbacks callbacks = {on_part, on_data, on_part_end};
    struct osb_multipart *multipart;
    int r = osb_multipart_new(type, &callbacks, out, &multipart, NULL);
    if (r < 0)
        return r;
    while (r >= 0 && body.len > 0) {
        struct osb_slice run = osb_slice_first(body, step);
        r = osb_multipart_feed(multipart, run, NULL);
        body = osb_slice_from(body, run.len);
    }
    int end = osb_multipart_finish(multipart, NULL);
    osb_assert(r >= 0 || end < 0);
    osb_multipart_free(multipart);
    return end;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct osb_slice body = osb_slice(data, size);
    struct osb_slice type;
    struct osb_buf whole = {0};
    struct osb_buf bytes = {0};
    if (!osb_slice_split(&body, '\n', &type))
        return 0;
    int a = read_all(type, body, SIZE_MAX, &whole);
    int b = read_all(type, body, 1, &bytes);
    osb_assert(a == b);
    if (a >= 0)
        osb_assert(osb_slice_eq(osb_buf_slice(&whole), osb_buf_slice(&bytes)));
    osb_buf_done(&whole);
    osb_buf_done(&bytes);
    return 0;
}
