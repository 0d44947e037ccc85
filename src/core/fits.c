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
    memset(f, 0, sizeof *f);
}

void fits_copy(struct fits *dst, const struct fits *src)
{
    *dst = *src;
    dst->table = mem_copy(src->table, (size_t)src->shape_cap * src->class_cap, sizeof *src->table);
}

/* Everything is worked out again after growing; that happens log(shapes * classes) times. */
static void grow(struct fits *f, uint32_t shapes, uint32_t classes)
{
    if (shapes <= f->shape_cap && classes <= f->class_cap)
        return;
    mem_free(f->table);
    f->shape_cap = shapes > f->shape_cap ? vec_grown(f->shape_cap, shapes) : f->shape_cap;
    f->class_cap = classes > f->class_cap ? vec_grown(f->class_cap, classes) : f->class_cap;
    f->table = mem_alloc((size_t)f->shape_cap * f->class_cap, sizeof *f->table);
}

const struct fit *fits_get(struct fits *f, const struct shapes *s, const struct nodes *n,
                           uint32_t shape_id, uint32_t class_id)
{
    struct fit *fit;

    grow(f, shape_id + 1, class_id + 1);
    fit = &f->table[(size_t)shape_id * f->class_cap + class_id];
    if (!fit->known) {
        const struct shape *shape = &s->shapes[shape_id];
        const struct node_class *class = &n->classes[class_id];

        fit->known = true;
        fit->ever = need_on(shape, class, &fit->need) && shape->cpu_mcpu <= class->cpu_mcpu &&
                    shape->memory_bytes <= class->memory_bytes &&
                    selector_admits(&s->selectors[shape->selector], class);
    }
    return fit;
}
