// SPDX-License-Identifier: Apache-2.0
#include "rest_sandbox.h"

#include <osb/clock.h>

#include <string.h>

#include "operator.h"
#include "rest_status.h"

const char *rest_time_format(char *buffer, int64_t realtime_ns)
{
    bool has_micros = realtime_ns / 1000 % 1000000 != 0;
    return osb_rfc3339_format(buffer, realtime_ns, has_micros ? 6 : 0);
}

static void print_time(struct osb_json_writer *w, const char *key, int64_t realtime_ns)
{
    char text[OSB_RFC3339_MAX];
    osb_json_kv_string(w, key, rest_time_format(text, realtime_ns));
}

bool rest_is_system_label(const char *key)
{
    size_t len = strcspn(key, "/");
    return len == sizeof(SYSTEM_PREFIX) - 1 && memcmp(key, SYSTEM_PREFIX, len) == 0;
}

static void print_status(struct osb_json_writer *w, const struct batchsandbox *bs)
{
    struct rest_status status = rest_status_of(bs);
    osb_json_key(w, "status");
    osb_json_begin_object(w);
    osb_json_kv_string(w, "state", status.state);
    osb_json_kv_string(w, "reason", status.reason);
    osb_json_kv_string(w, "message", status.message);
    if (status.transition_ns)
        print_time(w, "lastTransitionAt", status.transition_ns);
    osb_json_end_object(w);
}

/* Opens the object KEY with its first member: clients break on maps that are there and null. */
static void open_once(struct osb_json_writer *w, const char *key, bool *is_open)
{
    if (*is_open)
        return;
    osb_json_key(w, key);
    osb_json_begin_object(w);
    *is_open = true;
}

static void print_metadata(struct osb_json_writer *w, const struct batchsandbox *bs)
{
    bool is_open = false;
    for (size_t i = 0; i < bs->labels.count; i++) {
        if (rest_is_system_label(bs->labels.items[i].key))
            continue;
        open_once(w, "metadata", &is_open);
        osb_json_kv_string(w, bs->labels.items[i].key, bs->labels.items[i].value);
    }
    if (is_open)
        osb_json_end_object(w);
}

static void print_extensions(struct osb_json_writer *w, const struct batchsandbox *bs)
{
    bool is_open = false;
    for (size_t i = 0; i < bs->annotations.count; i++) {
        struct osb_slice key = osb_slice_str(bs->annotations.items[i].key);
        if (!osb_slice_starts(key, OSB_SLICE(ANNOTATION_EXTENSION)))
            continue;
        _cleanup_buf_ struct osb_buf name = {0};
        osb_buf_append_str(&name, EXTENSION_PREFIX);
        osb_buf_append_slice(&name, osb_slice_from(key, sizeof(ANNOTATION_EXTENSION) - 1));
        open_once(w, "extensions", &is_open);
        osb_json_kv_string(w, osb_buf_cstr(&name), bs->annotations.items[i].value);
    }
    if (is_open)
        osb_json_end_object(w);
}

static const struct osb_json *main_container(const struct osb_json *template_)
{
    const struct osb_json *containers = osb_json_get_path(template_, "spec.containers");
    return osb_json_at(containers, 0);
}

/* Of a sandbox that somebody made by hand: its command less the launcher. */
static void print_command(struct osb_json_writer *w, const struct osb_json *command)
{
    osb_json_begin_array(w);
    for (size_t i = 0; i < osb_json_count(command); i++) {
        struct osb_slice word = osb_json_str(osb_json_at(command, i));
        if (i > 0 || !osb_slice_eq_str(word, LAUNCHER))
            osb_json_slice(w, word);
    }
    osb_json_end_array(w);
}

/* The caller's own, never the launcher; always there, because clients demand it. */
static void print_entrypoint(struct osb_json_writer *w, const struct batchsandbox *bs,
                             const struct osb_json *template_)
{
    _cleanup_json_ struct osb_json *kept = NULL;
    const char *text = batchsandbox_annotation(bs, ANNOTATION_ENTRYPOINT);
    osb_json_key(w, "entrypoint");
    if (text && osb_json_parse(osb_slice_str(text), &kept, NULL) >= 0 &&
        osb_json_type(kept) == OSB_JSON_ARRAY) {
        print_command(w, kept);
        return;
    }
    const struct osb_json *command = osb_json_get(main_container(template_), "command");
    print_command(w, osb_json_type(command) == OSB_JSON_ARRAY ? command : NULL);
}

static void print_image(struct osb_json_writer *w, const struct batchsandbox *bs,
                        const struct osb_json *template_)
{
    const char *snapshot = pairs_get(&bs->labels, LABEL_SNAPSHOT);
    const char *image = osb_json_cstr(osb_json_get(main_container(template_), "image"));
    if (snapshot) {
        osb_json_kv_string(w, "snapshotId", snapshot);
        return;
    }
    osb_json_key(w, "image");
    osb_json_begin_object(w);
    osb_json_kv_string(w, "uri", image ? image : "unknown");
    osb_json_end_object(w);
}

/* Only words that clients know: they refuse others. */
static bool is_known_platform(const char *os, const char *arch)
{
    return os && arch && (strcmp(os, "linux") == 0 || strcmp(os, "windows") == 0) &&
           (strcmp(arch, "amd64") == 0 || strcmp(arch, "arm64") == 0);
}

static void print_platform(struct osb_json_writer *w, const struct osb_json *template_)
{
    const struct osb_json *selector = osb_json_get_path(template_, "spec.nodeSelector");
    const char *os = osb_json_cstr(osb_json_get(selector, "kubernetes.io/os"));
    const char *arch = osb_json_cstr(osb_json_get(selector, "kubernetes.io/arch"));
    if (!is_known_platform(os, arch))
        return;
    osb_json_key(w, "platform");
    osb_json_begin_object(w);
    osb_json_kv_string(w, "os", os);
    osb_json_kv_string(w, "arch", arch);
    osb_json_end_object(w);
}

void rest_sandbox_print(struct osb_json_writer *w, const struct batchsandbox *bs,
                        enum rest_detail detail)
{
    _cleanup_json_ struct osb_json *template_ = batchsandbox_template(bs);
    osb_json_begin_object(w);
    osb_json_kv_string(w, "id", bs->object.name);
    if (detail == REST_FULL)
        print_image(w, bs, template_);
    print_platform(w, template_);
    print_status(w, bs);
    print_metadata(w, bs);
    print_extensions(w, bs);
    print_entrypoint(w, bs, template_);
    if (bs->has_expiry)
        print_time(w, "expiresAt", bs->expire_ns);
    print_time(w, "createdAt", bs->created_ns);
    osb_json_end_object(w);
}
