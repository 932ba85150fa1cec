// SPDX-License-Identifier: Apache-2.0
/*
 * Intrusive doubly linked lists: the link is a member of the element, the list is a link of its
 * own that points to itself when empty. Nothing is allocated.
 */
#ifndef OSB_LIST_H
#define OSB_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct osb_list {
    struct osb_list *next;
    struct osb_list *prev;
};

#define osb_container_of(ptr, type, member) ((type *)((char *)(ptr)-offsetof(type, member)))

static inline void osb_list_init(struct osb_list *list)
{
    list->next = list;
    list->prev = list;
}

/* True also for a link that was never initialised (zero-filled) or was removed. */
static inline bool osb_list_is_empty(const struct osb_list *list)
{
    return !list->next || list->next == list;
}

static inline void osb_list_insert_before(struct osb_list *at, struct osb_list *link)
{
    link->next = at;
    link->prev = at->prev;
    at->prev->next = link;
    at->prev = link;
}

static inline void osb_list_append(struct osb_list *list, struct osb_list *link)
{
    osb_list_insert_before(list, link);
}

static inline void osb_list_prepend(struct osb_list *list, struct osb_list *link)
{
    osb_list_insert_before(list->next, link);
}

/* Removes a link from its list; removing twice, or a zero-filled link, is harmless. */
static inline void osb_list_remove(struct osb_list *link)
{
    if (!link->next)
        return;
    link->next->prev = link->prev;
    link->prev->next = link->next;
    link->next = link;
    link->prev = link;
}

#define osb_list_first(list, type, member)                                                         \
    (osb_list_is_empty(list) ? NULL : osb_container_of((list)->next, type, member))

#define osb_list_foreach(it, list, member)                                                         \
    for (it = osb_container_of((list)->next, __typeof__(*it), member); &it->member != (list);      \
         it = osb_container_of(it->member.next, __typeof__(*it), member))

/* The current element may be removed and freed inside the loop; NEXT is a second iterator. */
#define osb_list_foreach_safe(it, next_it, list, member)                                           \
    for (it = osb_container_of((list)->next, __typeof__(*it), member),                             \
        next_it = osb_container_of(it->member.next, __typeof__(*it), member);                      \
         &it->member != (list);                                                                    \
         it = next_it, next_it = osb_container_of(it->member.next, __typeof__(*it), member))

#endif
