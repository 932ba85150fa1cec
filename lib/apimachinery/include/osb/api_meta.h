// SPDX-License-Identifier: Apache-2.0
/* ObjectMeta (meta/v1) accessors over trees, and names and keys as Kubernetes validates them. */
#ifndef OSB_API_META_H
#define OSB_API_META_H

#include <osb/err.h>
#include <osb/json_tree.h>
#include <osb/slice.h>
#include <stdbool.h>
#include <stdint.h>

/* Borrowed, NUL-terminated; NULL when absent. */
const char *osb_api_name(const struct osb_json *object);
const char *osb_api_namespace(const struct osb_json *object);
const char *osb_api_uid(const struct osb_json *object);
const char *osb_api_resource_version(const struct osb_json *object);
const char *osb_api_kind(const struct osb_json *object);
const char *osb_api_version(const struct osb_json *object);          /* apiVersion */
int64_t osb_api_generation(const struct osb_json *object);           /* 0 when absent */
bool osb_api_is_deleting(const struct osb_json *object);             /* has deletionTimestamp */
struct osb_json *osb_api_labels(const struct osb_json *object);      /* borrowed or NULL */
struct osb_json *osb_api_annotations(const struct osb_json *object); /* borrowed or NULL */
const char *osb_api_label(const struct osb_json *object, const char *key);
const char *osb_api_annotation(const struct osb_json *object, const char *key);
bool osb_api_has_finalizer(const struct osb_json *object, const char *finalizer);
/* The UID of the owner reference with controller true; NULL when there is none. */
const char *osb_api_controller_uid(const struct osb_json *object);
/* An owner reference object pointing to OWNER. */
struct osb_json *osb_api_owner_reference(const struct osb_json *owner, bool is_controller,
                                         bool is_blocking);

/* Names and keys. */
bool osb_api_is_dns_label(struct osb_slice s);      /* RFC 1123 label, 63 */
bool osb_api_is_dns_subdomain(struct osb_slice s);  /* RFC 1123 subdomain, 253 */
bool osb_api_is_label_value(struct osb_slice s);    /* 63, empty allowed */
bool osb_api_is_qualified_name(struct osb_slice s); /* label and annotation keys */

#endif
