// SPDX-License-Identifier: Apache-2.0
/* Trees from libyaml's events. Every event passes next_event(), which holds the limits. */
#include <osb/yaml.h>

#include "yaml_scalar.h"

#include <osb/text.h>
#include <string.h>
#include <yaml.h>

#define TAG_PREFIX "tag:yaml.org,2002:"

struct yaml_reader {
    yaml_parser_t parser;
    yaml_event_t event; /* the current one */
    int events;
    int depth;
    struct osb_err *err;
};

static int fail_at(struct yaml_reader *y, int code, const char *what)
{
    const yaml_mark_t *mark = &y->event.start_mark;
    return osb_fail(y->err, code, "YAML at line %zu, column %zu: %s", mark->line + 1,
                    mark->column + 1, what);
}

static int parser_error(struct yaml_reader *y)
{
    const yaml_parser_t *p = &y->parser;
    if (p->error == YAML_MEMORY_ERROR)
        return osb_fail(y->err, -ENOMEM, "YAML: out of memory");
    return osb_fail(y->err, -OSB_E_SYNTAX, "YAML at line %zu, column %zu: %s",
                    p->problem_mark.line + 1, p->problem_mark.column + 1,
                    p->problem ? p->problem : "malformed");
}

static const char *event_anchor(const yaml_event_t *event)
{
    switch (event->type) {
    case YAML_SCALAR_EVENT:
        return (const char *)event->data.scalar.anchor;
    case YAML_SEQUENCE_START_EVENT:
        return (const char *)event->data.sequence_start.anchor;
    case YAML_MAPPING_START_EVENT:
        return (const char *)event->data.mapping_start.anchor;
    default:
        return NULL;
    }
}

static int next_event(struct yaml_reader *y)
{
    yaml_event_delete(&y->event);
    memset(&y->event, 0, sizeof(y->event));
    if (!yaml_parser_parse(&y->parser, &y->event))
        return parser_error(y);
    if (++y->events > OSB_YAML_MAX_EVENTS)
        return fail_at(y, -OSB_E_TOO_LARGE, "too many elements");
    if (y->event.type == YAML_ALIAS_EVENT || event_anchor(&y->event))
        return fail_at(y, -OSB_E_INVALID, "anchors and aliases are not accepted");
    return 0;
}

static int read_node(struct yaml_reader *y, struct osb_json **ret);

static struct osb_slice scalar_text(const yaml_event_t *event)
{
    return osb_slice(event->data.scalar.value, event->data.scalar.length);
}

/* A scalar with a tag of the core schema must be what the tag says. */
static int read_tagged_scalar(struct yaml_reader *y, struct osb_json **ret)
{
    static const struct {
        const char *tag;
        enum osb_json_type type;
    } TAGS[] = {
        {TAG_PREFIX "null", OSB_JSON_NULL},
        {TAG_PREFIX "bool", OSB_JSON_BOOL},
        {TAG_PREFIX "int", OSB_JSON_NUMBER},
        {TAG_PREFIX "float", OSB_JSON_NUMBER},
    };
    const char *tag = (const char *)y->event.data.scalar.tag;
    struct osb_slice text = scalar_text(&y->event);
    if (strcmp(tag, TAG_PREFIX "str") == 0 || strcmp(tag, "!") == 0) {
        *ret = osb_json_new_string(text);
        return 0;
    }
    for (size_t i = 0; i < sizeof(TAGS) / sizeof(TAGS[0]); i++) {
        if (strcmp(tag, TAGS[i].tag) != 0)
            continue;
        _cleanup_json_ struct osb_json *value = yaml_plain_scalar(text);
        if (osb_json_type(value) != TAGS[i].type)
            return fail_at(y, -OSB_E_INVALID, "the value does not fit its tag");
        *ret = osb_take_ptr(value);
        return 0;
    }
    return fail_at(y, -OSB_E_INVALID, "an unknown tag");
}

static int read_scalar(struct yaml_reader *y, struct osb_json **ret)
{
    struct osb_slice text = scalar_text(&y->event);
    if (!osb_utf8_is_valid(text))
        return fail_at(y, -OSB_E_SYNTAX, "malformed UTF-8");
    if (y->event.data.scalar.tag)
        return read_tagged_scalar(y, ret);
    if (y->event.data.scalar.style != YAML_PLAIN_SCALAR_STYLE) {
        *ret = osb_json_new_string(text);
        return 0;
    }
    struct osb_json *value = yaml_plain_scalar(text);
    if (!value)
        return fail_at(y, -OSB_E_INVALID, "infinity and not-a-number are not accepted");
    *ret = value;
    return 0;
}

static int read_sequence(struct yaml_reader *y, struct osb_json **ret)
{
    _cleanup_json_ struct osb_json *array = osb_json_new_array();
    for (;;) {
        int r = next_event(y);
        if (r < 0)
            return r;
        if (y->event.type == YAML_SEQUENCE_END_EVENT)
            break;
        struct osb_json *item = NULL;
        r = read_node(y, &item);
        if (r < 0)
            return r;
        osb_json_append(array, item);
    }
    *ret = osb_take_ptr(array);
    return 0;
}

/* The current event as a key that OBJECT does not have yet. */
static int read_key(struct yaml_reader *y, const struct osb_json *object, struct osb_json **ret)
{
    _cleanup_json_ struct osb_json *key = NULL;
    if (y->event.type != YAML_SCALAR_EVENT)
        return fail_at(y, -OSB_E_INVALID, "a key must be a string");
    int r = read_scalar(y, &key);
    if (r < 0)
        return r;
    struct osb_slice text = osb_json_str(key);
    if (osb_json_type(key) != OSB_JSON_STRING)
        return fail_at(y, -OSB_E_INVALID, "a key must be a string: put it in quotes");
    if (text.len && memchr(text.data, '\0', text.len))
        return fail_at(y, -OSB_E_INVALID, "a key with U+0000");
    if (osb_slice_eq_str(text, "<<") && y->event.data.scalar.style == YAML_PLAIN_SCALAR_STYLE)
        return fail_at(y, -OSB_E_INVALID, "merge keys are not accepted");
    if (osb_json_get_slice(object, text))
        return fail_at(y, -OSB_E_INVALID, "a key that is there already");
    *ret = osb_take_ptr(key);
    return 0;
}

static int read_member(struct yaml_reader *y, struct osb_json *object)
{
    _cleanup_json_ struct osb_json *key = NULL;
    struct osb_json *value;
    int r = read_key(y, object, &key);
    if (r < 0)
        return r;
    r = next_event(y);
    if (r < 0)
        return r;
    r = read_node(y, &value);
    if (r < 0)
        return r;
    osb_json_set_slice(object, osb_json_str(key), value);
    return 0;
}

static int read_mapping(struct yaml_reader *y, struct osb_json **ret)
{
    _cleanup_json_ struct osb_json *object = osb_json_new_object();
    for (;;) {
        int r = next_event(y);
        if (r < 0)
            return r;
        if (y->event.type == YAML_MAPPING_END_EVENT)
            break;
        r = read_member(y, object);
        if (r < 0)
            return r;
    }
    *ret = osb_take_ptr(object);
    return 0;
}

static int read_collection(struct yaml_reader *y, struct osb_json **ret)
{
    bool is_mapping = y->event.type == YAML_MAPPING_START_EVENT;
    const char *tag = is_mapping ? (const char *)y->event.data.mapping_start.tag
                                 : (const char *)y->event.data.sequence_start.tag;
    if (tag && strcmp(tag, is_mapping ? TAG_PREFIX "map" : TAG_PREFIX "seq") != 0)
        return fail_at(y, -OSB_E_INVALID, "an unknown tag");
    if (y->depth >= OSB_JSON_MAX_DEPTH)
        return fail_at(y, -OSB_E_TOO_DEEP, "nested too deeply");
    y->depth++;
    int r = is_mapping ? read_mapping(y, ret) : read_sequence(y, ret);
    y->depth--;
    return r;
}

/* The node that starts at the current event. */
static int read_node(struct yaml_reader *y, struct osb_json **ret)
{
    switch (y->event.type) {
    case YAML_SCALAR_EVENT:
        return read_scalar(y, ret);
    case YAML_SEQUENCE_START_EVENT:
    case YAML_MAPPING_START_EVENT:
        return read_collection(y, ret);
    default:
        return fail_at(y, -OSB_E_INTERNAL, "an unexpected event");
    }
}

/* One document, from behind its start event to its end event. */
static int read_document(struct yaml_reader *y, struct osb_json **ret)
{
    _cleanup_json_ struct osb_json *value = NULL;
    int r = next_event(y);
    if (r >= 0)
        r = read_node(y, &value);
    if (r >= 0)
        r = next_event(y);
    if (r < 0)
        return r;
    *ret = osb_take_ptr(value);
    return 0;
}

static int read_stream(struct yaml_reader *y, struct osb_json *documents)
{
    do {
        int r = next_event(y);
        if (r < 0)
            return r;
        if (y->event.type != YAML_DOCUMENT_START_EVENT)
            continue;
        struct osb_json *document;
        r = read_document(y, &document);
        if (r < 0)
            return r;
        osb_json_append(documents, document);
    } while (y->event.type != YAML_STREAM_END_EVENT);
    return 0;
}

/* Every document, the empty ones as null. */
static int read_documents(struct osb_slice text, struct osb_json **ret, struct osb_err *err)
{
    struct yaml_reader y = {.err = err};
    _cleanup_json_ struct osb_json *documents = osb_json_new_array();
    if (!yaml_parser_initialize(&y.parser))
        return osb_fail(err, -ENOMEM, "YAML: out of memory");
    yaml_parser_set_encoding(&y.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&y.parser, (const unsigned char *)(text.data ? text.data : ""),
                                 text.len);
    int r = read_stream(&y, documents);
    yaml_event_delete(&y.event);
    yaml_parser_delete(&y.parser);
    if (r < 0)
        return r;
    *ret = osb_take_ptr(documents);
    return 0;
}

int osb_yaml_parse(struct osb_slice text, struct osb_json **ret, struct osb_err *err)
{
    _cleanup_json_ struct osb_json *documents = NULL;
    int r = read_documents(text, &documents, err);
    if (r < 0)
        return r;
    if (osb_json_count(documents) != 1)
        return osb_fail(err, -OSB_E_INVALID, "YAML: %zu documents where one is due",
                        osb_json_count(documents));
    *ret = osb_json_copy(osb_json_at(documents, 0));
    return 0;
}

int osb_yaml_parse_all(struct osb_slice text, struct osb_json **ret_array, struct osb_err *err)
{
    struct osb_json *documents;
    int r = read_documents(text, &documents, err);
    if (r < 0)
        return r;
    for (size_t i = osb_json_count(documents); i-- > 0;)
        if (osb_json_type(osb_json_at(documents, i)) == OSB_JSON_NULL)
            osb_json_remove_at(documents, i);
    *ret_array = documents;
    return 0;
}
