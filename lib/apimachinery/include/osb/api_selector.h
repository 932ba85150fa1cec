// SPDX-License-Identifier: Apache-2.0
/*
 * Label selectors ("a=b,c!=d,e in (f,g),!h,i") and field selectors ("metadata.name=x,
 * status.phase!=Running"), parsed once and matched against label sets or field getters.
 */
#ifndef OSB_API_SELECTOR_H
#define OSB_API_SELECTOR_H

#include <osb/err.h>
#include <osb/json_tree.h>
#include <osb/slice.h>
#include <stdbool.h>

enum { OSB_SELECTOR_MAX_REQUIREMENTS = 64 };

struct osb_selector;

/* The empty text selects everything. Errors are -OSB_E_INVALID with the place. */
int osb_selector_parse_labels(struct osb_slice text, struct osb_selector **ret,
                              struct osb_err *err);
/* Only =, == and !=. */
int osb_selector_parse_fields(struct osb_slice text, struct osb_selector **ret,
                              struct osb_err *err);
/* From a meta/v1 LabelSelector object (matchLabels, matchExpressions). NULL selects everything. */
int osb_selector_from_object(const struct osb_json *selector, struct osb_selector **ret,
                             struct osb_err *err);
void osb_selector_free(struct osb_selector *selector);
bool osb_selector_is_empty(const struct osb_selector *selector);
/* GET returns the value of a key, borrowed, or NULL when it is absent. */
bool osb_selector_matches(const struct osb_selector *selector,
                          const char *(*get)(const char *key, void *arg), void *arg);
/* Against a metadata.labels object (NULL is empty). */
bool osb_selector_matches_labels(const struct osb_selector *selector,
                                 const struct osb_json *labels);
/* Field selectors against an object by dotted path; an absent field counts as "". */
bool osb_selector_matches_fields(const struct osb_selector *selector,
                                 const struct osb_json *object);
/* Calls FN for each key named; for the check that a field is selectable. */
void osb_selector_each_key(const struct osb_selector *selector,
                           void (*fn)(const char *key, void *arg), void *arg);

#endif
