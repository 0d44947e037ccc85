/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/rules_doc.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "wire/arena.h"
#include "wire/quote.h"

#define AMOUNT_MAX                                                                                 \
    (INT64_C(1) << 60) /* more than any cluster has, and sums of a few do not wrap                 \
                        */

#define AT(member) offsetof(struct rules_doc, member)

const struct field rules_fields[RULES_FIELDS_COUNT] = {
    {"queues", FIELD_NODE, NUMBER_WHOLE, false, AT(queues), 0, 0},
    {"classes", FIELD_NODE, NUMBER_WHOLE, false, AT(classes), 0, 0},
    {"levels", FIELD_NODE, NUMBER_WHOLE, false, AT(levels), 0, 0},
    {"default-queue", FIELD_NAME, NUMBER_WHOLE, false, AT(default_queue), 0, 0},
    {"default-class", FIELD_NAME, NUMBER_WHOLE, false, AT(default_class), 0, 0},
    {"reservation-depth", FIELD_NODE, NUMBER_WHOLE, false, AT(reservation_depth), 0, 0},
    {"node-silent", FIELD_I64, NUMBER_DURATION, false, AT(silent_us), 1, DURATION_US_MAX},
    {"share-half-life", FIELD_I64, NUMBER_DURATION, false, AT(share_half_life_us), 0,
     DURATION_US_MAX},
};

struct rules_doc rules_doc_default(void)
{
    return (struct rules_doc){
        .default_queue = "", .default_class = "", .silent_us = -1, .share_half_life_us = -1};
}

bool rules_doc_is_stated(const struct rules_doc *text)
{
    return text->queues || text->classes || text->levels || text->reservation_depth ||
           text->default_queue[0] != '\0' || text->default_class[0] != '\0' ||
           text->silent_us >= 0 || text->share_half_life_us >= 0;
}

/* ---- amounts ---- */

#undef AT
#define AT(resource) ((resource) * sizeof(int64_t))

static const struct field amount_fields[RES_COUNT] = {
    {"gpus", FIELD_I64, NUMBER_MILLI, false, AT(RES_GPU_MGPU), 0, AMOUNT_MAX},
    {"gpu-memory", FIELD_I64, NUMBER_BYTES, false, AT(RES_GPU_BYTES), 0, AMOUNT_MAX},
    {"cpus", FIELD_I64, NUMBER_MILLI, false, AT(RES_CPU_MCPU), 0, AMOUNT_MAX},
    {"memory", FIELD_I64, NUMBER_BYTES, false, AT(RES_MEMORY_BYTES), 0, AMOUNT_MAX},
};

static int read_amounts(const struct doc *doc, const struct doc_node *map, int64_t *out,
                        struct err *err)
{
    for (int i = 0; i < RES_COUNT; i++)
        out[i] = AMOUNT_NONE;
    return map ? fields_read(doc, map, amount_fields, RES_COUNT, out, err) : 0;
}

/* ---- queues ---- */

struct queue_text {
    struct queue_spec queue;
    struct field_texts users;
    const struct doc_node *guarantee, *limit, *borrow, *lend, *user_limit;
};

#undef AT
#define AT(member) offsetof(struct queue_text, member)

static const struct field queue_fields[] = {
    {"name", FIELD_NAME, NUMBER_WHOLE, true, AT(queue.name), 0, 0},
    {"parent", FIELD_NAME, NUMBER_WHOLE, false, AT(queue.parent), 0, 0},
    {"order", FIELD_NAME, NUMBER_WHOLE, false, AT(queue.order), 0, 0},
    {"weight", FIELD_U32, NUMBER_WHOLE, false, AT(queue.weight), 0, QUEUE_WEIGHT_MAX},
    {"guarantee", FIELD_NODE, NUMBER_WHOLE, false, AT(guarantee), 0, 0},
    {"limit", FIELD_NODE, NUMBER_WHOLE, false, AT(limit), 0, 0},
    {"borrow", FIELD_NODE, NUMBER_WHOLE, false, AT(borrow), 0, 0},
    {"lend", FIELD_NODE, NUMBER_WHOLE, false, AT(lend), 0, 0},
    {"user-limit", FIELD_NODE, NUMBER_WHOLE, false, AT(user_limit), 0, 0},
    {"user-jobs", FIELD_U32, NUMBER_WHOLE, false, AT(queue.user_jobs), 0, JOBS_MAX},
    {"users", FIELD_TEXTS, NUMBER_WHOLE, false, AT(users), 0, USERS_MAX},
};

static int read_queue(const struct doc *doc, const struct doc_node *node, struct queue_spec *out,
                      struct err *err)
{
    struct queue_text text = {.queue = {.parent = "", .order = "", .weight = 1}};
    int rc = fields_read(doc, node, queue_fields, sizeof queue_fields / sizeof *queue_fields, &text,
                         err);

    if (rc < 0)
        return rc;
    *out = text.queue;
    out->users = text.users.items;
    out->user_count = text.users.count;
    rc = read_amounts(doc, text.guarantee, out->guarantee, err);
    rc = rc < 0 ? rc : read_amounts(doc, text.limit, out->limit, err);
    rc = rc < 0 ? rc : read_amounts(doc, text.borrow, out->borrow, err);
    rc = rc < 0 ? rc : read_amounts(doc, text.lend, out->lend, err);
    return rc < 0 ? rc : read_amounts(doc, text.user_limit, out->user_limit, err);
}

static int read_queues(const struct doc *doc, const struct doc_node *list, struct rules_spec *out,
                       struct err *err)
{
    struct queue_spec *queues;
    struct names seen;
    int rc = doc_want_list(doc, list, QUEUES_MAX, err);

    if (rc < 0)
        return rc;
    queues = arena_alloc(doc->arena, list->child_count, sizeof *queues);
    out->queues = queues;
    names_init(&seen);
    for (const struct doc_node *n = doc_first(doc, list); n && rc == 0; n = doc_next(doc, n)) {
        struct queue_spec *queue = &queues[out->queue_count];

        rc = read_queue(doc, n, queue, err);
        if (rc < 0)
            break;
        if (queue->parent[0] != '\0' && names_find(&seen, queue->parent) == NAMES_NONE)
            rc = doc_error(doc, doc_find(doc, n, "parent"), err, -EINVAL,
                           "no queue %s stands before this one", quote_of(queue->parent).text);
        else if (names_intern(&seen, queue->name) != out->queue_count++)
            rc = doc_error(doc, n, err, -EINVAL, "queue %s is there twice",
                           quote_of(queue->name).text);
    }
    names_done(&seen);
    return rc;
}

/* ---- classes ---- */

struct class_text {
    struct class_spec class;
    struct field_texts users;
    const struct doc_node *user_limit;
    bool preemptible;
};

#undef AT
#define AT(member) offsetof(struct class_text, member)

static const struct field class_fields[] = {
    {"name", FIELD_NAME, NUMBER_WHOLE, true, AT(class.name), 0, 0},
    {"rank", FIELD_U32, NUMBER_WHOLE, true, AT(class.rank), 0, CLASS_RANK_MAX},
    {"takes-below", FIELD_U32, NUMBER_WHOLE, false, AT(class.takes_below), 0, CLASS_RANK_MAX},
    {"preemptible", FIELD_BOOL, NUMBER_WHOLE, false, AT(preemptible), 0, 0},
    {"grace", FIELD_I64, NUMBER_DURATION, false, AT(class.grace_us), 0, DURATION_US_MAX},
    {"min-run", FIELD_I64, NUMBER_DURATION, false, AT(class.min_run_us), 0, DURATION_US_MAX},
    {"user-limit", FIELD_NODE, NUMBER_WHOLE, false, AT(user_limit), 0, 0},
    {"users", FIELD_TEXTS, NUMBER_WHOLE, false, AT(users), 0, USERS_MAX},
};

static int read_class(const struct doc *doc, const struct doc_node *node, struct class_spec *out,
                      struct err *err)
{
    struct class_text text = {.class = {.grace_us = GRACE_DEFAULT_US}, .preemptible = true};
    int rc = fields_read(doc, node, class_fields, sizeof class_fields / sizeof *class_fields, &text,
                         err);

    if (rc < 0)
        return rc;
    *out = text.class;
    out->fixed = !text.preemptible;
    out->users = text.users.items;
    out->user_count = text.users.count;
    return read_amounts(doc, text.user_limit, out->user_limit, err);
}

static int read_classes(const struct doc *doc, const struct doc_node *list, struct rules_spec *out,
                        struct err *err)
{
    struct class_spec *classes;
    struct names seen;
    int rc = doc_want_list(doc, list, CLASSES_MAX, err);

    if (rc < 0)
        return rc;
    classes = arena_alloc(doc->arena, list->child_count, sizeof *classes);
    out->classes = classes;
    names_init(&seen);
    for (const struct doc_node *n = doc_first(doc, list); n && rc == 0; n = doc_next(doc, n)) {
        struct class_spec *class = &classes[out->class_count];

        rc = read_class(doc, n, class, err);
        if (rc == 0 && names_intern(&seen, class->name) != out->class_count++)
            rc = doc_error(doc, n, err, -EINVAL, "class %s is there twice",
                           quote_of(class->name).text);
    }
    names_done(&seen);
    return rc;
}

/* ---- levels ---- */

#undef AT
#define AT(member) offsetof(struct level_spec, member)

static const struct field level_fields[] = {
    {"name", FIELD_NAME, NUMBER_WHOLE, true, AT(name), 0, 0},
    {"bandwidth", FIELD_I64, NUMBER_BITRATE, false, AT(bandwidth_bytes), 1, LEVEL_BYTES_MAX},
    {"uplink", FIELD_I64, NUMBER_BITRATE, false, AT(uplink_bytes), 1, LEVEL_BYTES_MAX},
};

static int read_levels(const struct doc *doc, const struct doc_node *list, struct rules_spec *out,
                       struct err *err)
{
    struct level_spec *levels;
    struct names seen;
    int rc = doc_want_list(doc, list, LEVELS_MAX, err);

    if (rc < 0)
        return rc;
    levels = arena_alloc(doc->arena, list->child_count, sizeof *levels);
    out->levels = levels;
    names_init(&seen);
    for (const struct doc_node *n = doc_first(doc, list); n && rc == 0; n = doc_next(doc, n)) {
        struct level_spec *level = &levels[out->level_count];

        rc = fields_read(doc, n, level_fields, sizeof level_fields / sizeof *level_fields, level,
                         err);
        if (rc == 0 && names_intern(&seen, level->name) != out->level_count++)
            rc = doc_error(doc, n, err, -EINVAL, "level %s is there twice",
                           quote_of(level->name).text);
    }
    names_done(&seen);
    return rc;
}

/* ---- all of it ---- */

static int read_depth(const struct doc *doc, const struct doc_node *node, uint32_t *out,
                      struct err *err)
{
    struct err detail;
    int64_t depth = 0;
    int rc;

    if (node->type == DOC_TEXT && strcmp(node->text, "all") == 0) {
        *out = RESERVE_ALL;
        return 0;
    }
    rc = doc_want_number(doc, node, NUMBER_WHOLE, 0, RESERVATIONS_MAX, &depth, &detail);
    if (rc < 0)
        return err_set(err, rc, "%s; or 'all'", detail.text);
    *out = (uint32_t)depth;
    return rc;
}

int rules_doc_finish(const struct doc *doc, const struct rules_doc *text, struct rules_spec *out,
                     struct err *err)
{
    int rc = 0;

    *out = (struct rules_spec){
        .default_queue = text->default_queue,
        .root_order = "",
        .default_class = text->default_class,
        .reservation_depth = RESERVATION_DEPTH_DEFAULT,
        .silent_us = text->silent_us >= 0 ? text->silent_us : NODE_SILENT_DEFAULT_US,
        .share_half_life_us = text->share_half_life_us >= 0 ? text->share_half_life_us : 0};
    if (text->reservation_depth)
        rc = read_depth(doc, text->reservation_depth, &out->reservation_depth, err);
    if (rc == 0 && text->queues)
        rc = read_queues(doc, text->queues, out, err);
    if (rc == 0 && text->classes)
        rc = read_classes(doc, text->classes, out, err);
    if (rc == 0 && text->levels)
        rc = read_levels(doc, text->levels, out, err);
    return rc;
}
