// SPDX-License-Identifier: Apache-2.0
#include "protobuf.h"

#include <osb/alloc.h>
#include <osb/clock.h>
#include <osb/text.h>

/*
 * NUMBER:NAME:TYPE, types as in core_types.h (bytes become base64). "?" after the type: a zero or
 * empty value is kept, because the field is optional on the wire; all other fields are always sent,
 * and an empty one means absent.
 */
struct message_type {
    const char *name;
    const char *fields;
};

static const struct message_type types[] = {
    {"Unknown", "1:typeMeta:TypeMeta 2:raw:bytes? 3:contentEncoding:string 4:contentType:string"},
    {"TypeMeta", "1:apiVersion:string 2:kind:string"},
    {"ObjectMeta",
     "1:name:string 2:generateName:string 3:namespace:string 5:uid:string "
     "6:resourceVersion:string 7:generation:int64 8:creationTimestamp:time "
     "9:deletionTimestamp:time 10:deletionGracePeriodSeconds:int64? 11:labels:{}string "
     "12:annotations:{}string 13:ownerReferences:[]OwnerReference 14:finalizers:[]string"},
    {"OwnerReference",
     "1:kind:string 3:name:string 4:uid:string 5:apiVersion:string 6:controller:bool? "
     "7:blockOwnerDeletion:bool?"},
    {"Namespace", "1:metadata:ObjectMeta 2:spec:NamespaceSpec 3:status:NamespaceStatus"},
    {"NamespaceSpec", "1:finalizers:[]string"},
    {"NamespaceStatus", "1:phase:string"},
    {"Secret",
     "1:metadata:ObjectMeta 2:data:{}bytes 3:type:string 4:stringData:{}string 5:immutable:bool?"},
    {"DeleteOptions",
     "1:gracePeriodSeconds:int64? 2:preconditions:Preconditions 3:orphanDependents:bool? "
     "4:propagationPolicy:string 5:dryRun:[]string"},
    {"Preconditions", "1:uid:string 2:resourceVersion:string"},
    {"Time", "1:seconds:int64 2:nanos:int64"},
};

/* What may be inside the envelope. */
static const char *const roots[] = {"Namespace", "Secret", "DeleteOptions"};

struct reader {
    int items;
    int err; /* sticky */
};

struct field {
    struct osb_slice name;
    struct osb_slice type;
    bool is_kept_empty;
};

/* One field as it stands on the wire. */
struct wire_field {
    uint64_t number;
    int wire_type;
    uint64_t value;         /* of wire types 0, 1 and 5 */
    struct osb_slice bytes; /* of wire type 2 */
};

enum { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };

static const struct message_type *find_type(struct osb_slice name)
{
    for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
        if (osb_slice_eq_str(name, types[i].name))
            return &types[i];
    return NULL;
}

static bool find_field(const struct message_type *type, uint64_t number, struct field *ret)
{
    struct osb_slice rest = osb_slice_str(type->fields), word, part;
    while (osb_slice_split(&rest, ' ', &word)) {
        uint64_t n = 0;
        osb_slice_split(&word, ':', &part);
        if (osb_slice_to_u64(part, &n) < 0 || n != number)
            continue;
        osb_slice_split(&word, ':', &ret->name);
        ret->is_kept_empty = osb_slice_ends(word, OSB_SLICE("?"));
        ret->type = osb_slice_first(word, word.len - (ret->is_kept_empty ? 1 : 0));
        return true;
    }
    return false;
}

/* ---- the wire ---- */

static int read_varint(struct osb_slice *in, uint64_t *ret)
{
    uint64_t value = 0;
    for (size_t i = 0; i < in->len && i < 10; i++) {
        uint8_t byte = (uint8_t)in->data[i];
        value |= (uint64_t)(byte & 0x7f) << (7 * i);
        if (byte & 0x80)
            continue;
        *in = osb_slice_from(*in, i + 1);
        *ret = value;
        return 0;
    }
    return -OSB_E_SYNTAX;
}

static int read_fixed(struct osb_slice *in, size_t size, uint64_t *ret)
{
    uint64_t value = 0;
    if (in->len < size)
        return -OSB_E_SYNTAX;
    for (size_t i = 0; i < size; i++)
        value |= (uint64_t)(uint8_t)in->data[i] << (8 * i);
    *in = osb_slice_from(*in, size);
    *ret = value;
    return 0;
}

static int read_field(struct osb_slice *in, struct wire_field *ret)
{
    uint64_t key = 0, len = 0;
    if (read_varint(in, &key) < 0)
        return -OSB_E_SYNTAX;
    *ret = (struct wire_field){.number = key >> 3, .wire_type = (int)(key & 7)};
    switch (ret->wire_type) {
    case WIRE_VARINT:
        return read_varint(in, &ret->value);
    case WIRE_FIXED64:
        return read_fixed(in, 8, &ret->value);
    case WIRE_FIXED32:
        return read_fixed(in, 4, &ret->value);
    case WIRE_BYTES:
        if (read_varint(in, &len) < 0 || len > in->len)
            return -OSB_E_SYNTAX;
        ret->bytes = osb_slice_first(*in, (size_t)len);
        *in = osb_slice_from(*in, (size_t)len);
        return 0;
    default: /* groups are not used */
        return -OSB_E_SYNTAX;
    }
}

/* ---- values ---- */

static struct osb_json *read_message(struct reader *r, const struct message_type *type,
                                     struct osb_slice in, int depth);

static struct osb_json *fail(struct reader *r, int code)
{
    if (!r->err)
        r->err = code;
    return NULL;
}

/* Seconds and nanoseconds; the zero time is absent. */
static struct osb_json *read_time(struct reader *r, struct osb_slice in, int depth)
{
    char text[OSB_RFC3339_MAX];
    _cleanup_json_ struct osb_json *parts =
        read_message(r, find_type(OSB_SLICE("Time")), in, depth);
    int64_t seconds = osb_json_i64_or(osb_json_get(parts, "seconds"), 0);
    if (seconds <= 0)
        return NULL;
    if (seconds > INT64_MAX / (int64_t)OSB_NS_PER_S)
        return fail(r, -ERANGE);
    return osb_json_new_str(osb_rfc3339_format(text, seconds * (int64_t)OSB_NS_PER_S, 0));
}

static struct osb_json *read_string(struct reader *r, const struct wire_field *w, bool is_kept)
{
    if (w->wire_type != WIRE_BYTES || !osb_utf8_is_valid(w->bytes))
        return fail(r, -OSB_E_SYNTAX);
    return w->bytes.len || is_kept ? osb_json_new_string(w->bytes) : NULL;
}

static struct osb_json *read_number(struct reader *r, const struct wire_field *w, bool is_kept,
                                    bool is_bool)
{
    if (w->wire_type != WIRE_VARINT)
        return fail(r, -OSB_E_SYNTAX);
    if (!w->value && !is_kept)
        return NULL;
    return is_bool ? osb_json_new_bool(w->value != 0) : osb_json_new_i64((int64_t)w->value);
}

static struct osb_json *read_bytes(const struct wire_field *w)
{
    _cleanup_buf_ struct osb_buf text = {0};
    osb_base64_encode(&text, w->bytes);
    return osb_json_new_string(osb_buf_slice(&text));
}

/* NULL when the value is absent or the reader failed. */
static struct osb_json *read_value(struct reader *r, struct osb_slice type,
                                   const struct wire_field *w, bool is_kept, int depth)
{
    if (osb_slice_eq_str(type, "string"))
        return read_string(r, w, is_kept);
    if (osb_slice_eq_str(type, "int64") || osb_slice_eq_str(type, "bool"))
        return read_number(r, w, is_kept, osb_slice_eq_str(type, "bool"));
    if (w->wire_type != WIRE_BYTES)
        return fail(r, -OSB_E_SYNTAX);
    if (osb_slice_eq_str(type, "bytes"))
        return read_bytes(w);
    if (osb_slice_eq_str(type, "time"))
        return read_time(r, w->bytes, depth + 1);
    return read_message(r, find_type(type), w->bytes, depth + 1);
}

/* A map entry is a message of key (1) and value (2), either of which may be left out. */
static void read_entry(struct reader *r, struct osb_slice type, struct osb_slice in,
                       struct osb_json *map, int depth)
{
    struct wire_field w, key = {.wire_type = WIRE_BYTES}, value = {.wire_type = WIRE_BYTES};
    while (in.len) {
        if (read_field(&in, &w) < 0) {
            fail(r, -OSB_E_SYNTAX);
            return;
        }
        if (w.number == 1)
            key = w;
        else if (w.number == 2)
            value = w;
    }
    /* Names in a JSON tree are NUL-terminated. */
    if (key.wire_type != WIRE_BYTES || !osb_utf8_is_valid(key.bytes) ||
        osb_slice_find(key.bytes, '\0') >= 0) {
        fail(r, -OSB_E_SYNTAX);
        return;
    }
    struct osb_json *read = read_value(r, type, &value, true, depth);
    if (read)
        osb_json_set_slice(map, key.bytes, read);
}

/* The member NAME of MESSAGE as a list or map, made when it is not there yet. */
static struct osb_json *ensure(struct osb_json *message, struct osb_slice name, bool is_list)
{
    struct osb_json *member = osb_json_get_slice(message, name);
    if (!member) {
        member = is_list ? osb_json_new_array() : osb_json_new_object();
        osb_json_set_slice(message, name, member);
    }
    return member;
}

static void set_field(struct reader *r, const struct field *f, const struct wire_field *w,
                      struct osb_json *message, int depth)
{
    struct osb_slice inner = osb_slice_from(f->type, 2);
    if (osb_slice_starts(f->type, OSB_SLICE("{}"))) {
        if (w->wire_type == WIRE_BYTES)
            read_entry(r, inner, w->bytes, ensure(message, f->name, false), depth);
        else
            fail(r, -OSB_E_SYNTAX);
        return;
    }
    bool is_list = osb_slice_starts(f->type, OSB_SLICE("[]"));
    struct osb_json *value =
        read_value(r, is_list ? inner : f->type, w, is_list || f->is_kept_empty, depth);
    if (value && is_list)
        osb_json_append(ensure(message, f->name, true), value);
    else if (value)
        osb_json_set_slice(message, f->name, value);
}

static struct osb_json *read_message(struct reader *r, const struct message_type *type,
                                     struct osb_slice in, int depth)
{
    if (depth > PROTOBUF_MAX_DEPTH)
        return fail(r, -OSB_E_TOO_DEEP);
    struct osb_json *message = osb_json_new_object();
    while (in.len && !r->err) {
        struct wire_field w;
        struct field f;
        if (read_field(&in, &w) < 0 || w.number == 0)
            fail(r, -OSB_E_SYNTAX);
        else if (++r->items > PROTOBUF_MAX_ITEMS)
            fail(r, -OSB_E_TOO_LARGE);
        else if (find_field(type, w.number, &f))
            set_field(r, &f, &w, message, depth);
    }
    return message;
}

/* ---- the envelope ---- */

static int read_envelope(struct reader *r, struct osb_slice body, struct osb_buf *raw,
                         struct osb_json **ret_meta)
{
    struct osb_slice magic = osb_slice("k8s\0", 4);
    if (!osb_slice_starts(body, magic))
        return -OSB_E_SYNTAX;
    _cleanup_json_ struct osb_json *unknown =
        read_message(r, find_type(OSB_SLICE("Unknown")), osb_slice_from(body, magic.len), 0);
    if (r->err || osb_json_get(unknown, "contentEncoding"))
        return -OSB_E_SYNTAX;
    int e = osb_base64_decode(raw, osb_json_str(osb_json_get(unknown, "raw")));
    const struct osb_json *meta = osb_json_get(unknown, "typeMeta");
    if (meta)
        *ret_meta = osb_json_copy(meta);
    return e;
}

static const struct message_type *find_root(struct osb_slice kind)
{
    for (size_t i = 0; i < sizeof(roots) / sizeof(*roots); i++)
        if (osb_slice_eq_str(kind, roots[i]))
            return find_type(kind);
    return NULL;
}

int protobuf_decode(struct osb_slice body, struct osb_json **ret, struct osb_err *err)
{
    struct reader r = {0};
    _cleanup_buf_ struct osb_buf raw = {0};
    _cleanup_json_ struct osb_json *meta = NULL;
    if (read_envelope(&r, body, &raw, &meta) < 0 || !meta)
        return osb_fail(err, -OSB_E_SYNTAX, "not an object in protobuf");
    struct osb_slice kind = osb_json_str(osb_json_get(meta, "kind"));
    const struct message_type *type = find_root(kind);
    if (!type)
        return osb_fail(err, -OSB_E_UNSUPPORTED, "%.*s is not read in protobuf here, send JSON",
                        OSB_SLICE_ARG(kind));
    _cleanup_json_ struct osb_json *object = read_message(&r, type, osb_buf_slice(&raw), 0);
    if (r.err)
        return osb_fail(err, r.err, "malformed protobuf of a %.*s", OSB_SLICE_ARG(kind));
    osb_json_set(object, "kind", osb_json_new_string(kind));
    const struct osb_json *version = osb_json_get(meta, "apiVersion");
    if (version)
        osb_json_set(object, "apiVersion", osb_json_copy(version));
    *ret = osb_take_ptr(object);
    return 0;
}
