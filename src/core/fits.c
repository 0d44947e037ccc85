/* SPDX-License-Identifier: Apache-2.0 */
/* fits.c - what each shape means on each class of nodes. */
#include "core/fits.h"

#include <string.h>

#include "base/mem.h"
#include "base/vec.h"
#include "core/nodes.h"

void fits_init(struct fits *f)
{
    memset(f, 0, sizeof *f);
}

void fits_done(struct fits *f)
{
    mem_free(f->table);
    mem_free(f->known);
    memset(f, 0, sizeof *f);
}

void fits_copy(struct fits *dst, const struct fits *src)
{
    *dst = *src;
    dst->table = mem_copy(src->table, (size_t)src->shape_cap * src->class_cap, sizeof *src->table);
    dst->known = mem_copy(src->known, src->shape_cap, sizeof *src->known);
}

/* Everything is worked out again after growing; that happens log(shapes * classes) times. */
static void grow(struct fits *f, uint32_t shapes, uint32_t classes)
{
    if (shapes <= f->shape_cap && classes <= f->class_cap)
        return;
    fits_done(&(struct fits){.table = f->table, .known = f->known});
    f->shape_cap = shapes > f->shape_cap ? vec_grown(f->shape_cap, shapes) : f->shape_cap;
    f->class_cap = classes > f->class_cap ? vec_grown(f->class_cap, classes) : f->class_cap;
    f->table = mem_alloc((size_t)f->shape_cap * f->class_cap, sizeof *f->table);
    f->known = mem_alloc(f->shape_cap, sizeof *f->known);
}

static void work_out(const struct shape *shape, const struct selector *selector,
                     const struct node_class *class, struct fit *out)
{
    out->ever = need_on(shape, class, &out->need) && shape->cpu_mcpu <= class->cpu_mcpu &&
                shape->memory_bytes <= class->memory_bytes && selector_admits(selector, class);
}

const struct fit *fits_row(struct fits *f, const struct shapes *s, const struct nodes *n,
                           uint32_t shape_id)
{
    const struct shape *shape = &s->shapes[shape_id];
    struct fit *row;

    grow(f, shape_id + 1, n->class_count);
    row = &f->table[(size_t)shape_id * f->class_cap];
    for (uint32_t *known = &f->known[shape_id]; *known < n->class_count; ++*known)
        work_out(shape, &s->selectors[shape->selector], &n->classes[*known], &row[*known]);
    return row;
}

const struct fit *fits_get(struct fits *f, const struct shapes *s, const struct nodes *n,
                           uint32_t shape_id, uint32_t class_id)
{
    return &fits_row(f, s, n, shape_id)[class_id];
}
