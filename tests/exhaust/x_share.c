/* SPDX-License-Identifier: Apache-2.0 */
/* What queues deserve, against a brute force that gives one unit at a time from the top down.
 *
 * Complete, each with every amount of 0 to 8:
 *   1 and 2 children: weight 0..2, guarantee, limit and demand 0..4 of each;
 *   3 children: weight 0..2, guarantee and cap 0..4 of each, the cap being limit or demand in turn;
 *   4 children: weight, guarantee and cap 0..2 of each;
 *   each of the 440 forms of trees of 1 to 4 leaves, under none, one or two levels of inner queues,
 *   for which all of these values make at most 1,000,000 cases: leaves of weight 0..2, guarantee
 *   0..1, demand 1..2; inner queues of weight 0..2, guarantee 0..2, limit 1, 2 or none.
 * Sampled, with a seed: 1,500 trees of each of the 440 forms with all of the full values above and,
 * for inner queues, no limit too; children with amounts of thousands; and with amounts up to 2^62,
 * where no brute force can go, against what the definition says of every two children. */
#include <stdbool.h>
#include <string.h>

#include "base/rng.h"
#include "core/share.h"
#include "unit/test.h"

enum { LEAVES = 4, DEPTHS = 3, QUEUES = LEAVES * DEPTHS, AMOUNT = 8, SAMPLES = 1500 };

__extension__ typedef __int128 wide;

struct tree {
    struct share_child queues[QUEUES];
    uint32_t parents[QUEUES];
    uint32_t count;
};

struct tally {
    uint64_t cases, over, spare, raised; /* promised too much; weight 0 got some; more asked for */
};

/* ---- the brute force ---- */

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static bool has_children(const struct tree *t, uint32_t queue)
{
    for (uint32_t q = queue + 1; q < t->count; q++)
        if (t->parents[q] == queue)
            return true;
    return false;
}

static int64_t brute_cap(const struct tree *t, uint32_t queue)
{
    int64_t wanted = 0;

    if (!has_children(t, queue))
        return smaller(t->queues[queue].demand, t->queues[queue].limit);
    for (uint32_t q = queue + 1; q < t->count; q++)
        if (t->parents[q] == queue)
            wanted += brute_cap(t, q);
    return smaller(wanted, t->queues[queue].limit);
}

struct brute {
    int64_t caps[QUEUES], bases[QUEUES], weights[QUEUES], tops[QUEUES], given[QUEUES];
    int64_t deserved[QUEUES];
};

/* Gives up to `amount` units to the children of the parent; returns how many could not be given. */
static int64_t brute_pour(const struct tree *t, uint32_t parent, struct brute *b, int64_t amount)
{
    for (uint32_t q = 0; q < t->count; q++)
        b->given[q] = 0;
    for (; amount > 0; amount--) {
        uint32_t best = QUEUES;

        for (uint32_t q = 0; q < t->count; q++)
            if (t->parents[q] == parent && b->weights[q] > 0 && b->given[q] < b->tops[q] &&
                (best == QUEUES ||
                 (b->given[q] + 1) * b->weights[best] < (b->given[best] + 1) * b->weights[q]))
                best = q;
        if (best == QUEUES)
            break;
        b->given[best]++;
    }
    for (uint32_t q = 0; q < t->count; q++)
        b->deserved[q] += b->given[q];
    return amount;
}

static void brute_family(const struct tree *t, uint32_t parent, int64_t amount, struct brute *b,
                         struct tally *tally)
{
    int64_t bases = 0, left = amount;
    bool over;

    for (uint32_t q = 0; q < t->count; q++)
        bases += t->parents[q] == parent ? b->bases[q] : 0;
    over = bases > amount;
    for (uint32_t q = 0; q < t->count; q++)
        if (t->parents[q] == parent) {
            b->deserved[q] = over ? 0 : b->bases[q];
            b->weights[q] = over ? t->queues[q].guarantee : t->queues[q].weight;
            b->tops[q] = over ? b->bases[q] : b->caps[q] - b->bases[q];
        }
    left = brute_pour(t, parent, b, over ? amount : amount - bases);
    tally->over += over;
    if (over || left == 0)
        return;
    for (uint32_t q = 0; q < t->count; q++)
        if (t->parents[q] == parent)
            b->weights[q] = t->queues[q].weight == 0;
    tally->spare += brute_pour(t, parent, b, left) < left;
}

static void brute_tree(const struct tree *t, int64_t amount, struct brute *b, struct tally *tally)
{
    memset(b, 0, sizeof *b);
    for (uint32_t q = 0; q < t->count; q++) {
        b->caps[q] = brute_cap(t, q);
        b->bases[q] = smaller(t->queues[q].guarantee, b->caps[q]);
    }
    brute_family(t, SHARE_NO_QUEUE, amount, b, tally);
    for (uint32_t q = 0; q < t->count; q++)
        if (has_children(t, q))
            brute_family(t, q, b->deserved[q], b, tally);
}

/* ---- one tree, one amount ---- */

static void print_tree(const struct tree *t, const struct brute *b, int64_t amount)
{
    print_message("# amount %lld\n", (long long)amount);
    for (uint32_t q = 0; q < t->count; q++)
        print_message("# queue %u in %d: guarantee %lld limit %lld demand %lld weight %u "
                      "deserves %lld, brute force %lld\n",
                      q, (int)t->parents[q], (long long)t->queues[q].guarantee,
                      (long long)t->queues[q].limit, (long long)t->queues[q].demand,
                      t->queues[q].weight, (long long)t->queues[q].deserved,
                      (long long)b->deserved[q]);
}

/* What the header promises of the children of one parent, from nothing but the answer. */
static bool family_keeps_promises(const struct tree *t, uint32_t parent, int64_t amount,
                                  const struct brute *b)
{
    int64_t caps = 0, bases = 0, sum = 0;
    bool ok = true;

    for (uint32_t q = 0; q < t->count; q++)
        if (t->parents[q] == parent) {
            caps += b->caps[q];
            bases += b->bases[q];
            sum += t->queues[q].deserved;
        }
    for (uint32_t q = 0; q < t->count; q++)
        if (t->parents[q] == parent) {
            const int64_t deserved = t->queues[q].deserved;

            ok = ok && deserved >= 0 && deserved <= b->caps[q];
            ok = ok && (bases > amount || deserved >= b->bases[q]);
        }
    return ok && sum == smaller(amount, caps);
}

static void divide_tree(struct tree *t, int64_t amount)
{
    uint32_t scratch[SHARE_TREE_SCRATCH(QUEUES)];

    share_tree(amount, t->queues, t->parents, t->count, scratch);
}

static void try_tree(struct tree *t, int64_t amount, struct tally *tally)
{
    struct brute b;
    bool ok;

    brute_tree(t, amount, &b, tally);
    divide_tree(t, amount);
    ok = family_keeps_promises(t, SHARE_NO_QUEUE, amount, &b);
    for (uint32_t q = 0; q < t->count; q++) {
        ok = ok && t->queues[q].deserved == b.deserved[q];
        if (has_children(t, q))
            ok = ok && family_keeps_promises(t, q, t->queues[q].deserved, &b);
    }
    tally->cases++;
    if (!ok) {
        print_tree(t, &b, amount);
        fail_msg("not what the brute force gives, or a promise is broken");
    }
}

/* The leaf asks for one more: it deserves no less. */
static void try_more_demand(const struct tree *t, uint32_t leaf, int64_t amount,
                            struct tally *tally)
{
    struct tree more = *t;

    more.queues[leaf].demand++;
    divide_tree(&more, amount);
    tally->raised += more.queues[leaf].deserved > t->queues[leaf].deserved;
    if (more.queues[leaf].deserved < t->queues[leaf].deserved)
        fail_msg("queue %u of %u asks for more of %lld and deserves less", leaf, t->count,
                 (long long)amount);
}

static void expect_variety(const struct tally *tally)
{
    print_message("# %llu cases; %llu times promises beyond the amount, %llu times something for "
                  "weight 0\n",
                  (unsigned long long)tally->cases, (unsigned long long)tally->over,
                  (unsigned long long)tally->spare);
    assert_true(tally->over > tally->cases / 20 && tally->spare > tally->cases / 20);
}

/* ---- children of one parent ---- */

/* All values of one child: how many, and the one of this number. */
struct values {
    uint32_t count;
    struct share_child (*get)(uint32_t code);
};

static struct share_child every_value(uint32_t code)
{
    return (struct share_child){.guarantee = code % 5,
                                .limit = code / 5 % 5,
                                .demand = code / 25 % 5,
                                .weight = code / 125};
}

static struct share_child every_cap_of_4(uint32_t code)
{
    const int64_t cap = code / 5 % 5;

    return (struct share_child){.guarantee = code % 5,
                                .limit = code % 2 ? cap : 4,
                                .demand = code % 2 ? 4 : cap,
                                .weight = code / 25};
}

static struct share_child every_cap_of_2(uint32_t code)
{
    return (struct share_child){
        .guarantee = code % 3, .limit = SHARE_NO_LIMIT, .demand = code / 3 % 3, .weight = code / 9};
}

static void try_all_children(const struct values *values, uint32_t count, bool raise,
                             struct tally *tally)
{
    struct tree t = {.count = count};
    uint64_t codes = 1;

    memset(t.parents, 0xff, sizeof t.parents);
    for (uint32_t q = 0; q < count; q++)
        codes *= values->count;
    for (uint64_t code = 0; code < codes; code++) {
        uint64_t rest = code;

        for (uint32_t q = 0; q < count; q++, rest /= values->count)
            t.queues[q] = values->get((uint32_t)(rest % values->count));
        for (int64_t amount = 0; amount <= AMOUNT; amount++) {
            try_tree(&t, amount, tally);
            for (uint32_t q = 0; raise && q < count; q++)
                try_more_demand(&t, q, amount, tally);
        }
    }
}

static void every_one_and_two_children_of_every_value(void **state)
{
    static const struct values values = {3 * 5 * 5 * 5, every_value};
    struct tally tally = {0};

    (void)state;
    try_all_children(&values, 1, true, &tally);
    try_all_children(&values, 2, true, &tally);
    assert_int_equal(tally.cases, (375 + 375 * 375) * 9);
    assert_true(tally.raised > 0);
    expect_variety(&tally);
}

static void every_three_children_of_every_guarantee_cap_and_weight(void **state)
{
    static const struct values values = {3 * 5 * 5, every_cap_of_4};
    struct tally tally = {0};

    (void)state;
    try_all_children(&values, 3, false, &tally);
    assert_int_equal(tally.cases, 75 * 75 * 75 * 9);
    expect_variety(&tally);
}

static void every_four_children_of_small_values(void **state)
{
    static const struct values values = {3 * 3 * 3, every_cap_of_2};
    struct tally tally = {0};

    (void)state;
    try_all_children(&values, 4, false, &tally);
    assert_int_equal(tally.cases, 27 * 27 * 27 * 27 * 9);
    expect_variety(&tally);
}

/* ---- trees ---- */

/* Calls try(tree, arg) for every form, queues in the order of a walk from the root: each form is
 * one row of depths, in which none is more than one below the one before. */
struct forms {
    void (*try)(struct tree *, void *arg);
    void *arg;
    uint32_t count;
};

static void forms_from(struct forms *forms, struct tree *t, uint32_t *depths, uint32_t leaves)
{
    const uint32_t n = t->count, last = n > 0 ? depths[n - 1] : 0;

    if (n > 0) {
        forms->count++;
        forms->try(t, forms->arg);
    }
    for (uint32_t depth = 0; depth < DEPTHS && depth <= (n > 0 ? last + 1 : 0); depth++) {
        /* One level down, what was a leaf becomes an inner queue. */
        const uint32_t now = n > 0 && depth > last ? leaves : leaves + 1;

        if (now > LEAVES)
            continue;
        depths[n] = depth;
        t->parents[n] = SHARE_NO_QUEUE;
        for (uint32_t q = 0; q < n; q++)
            if (depths[q] + 1 == depth)
                t->parents[n] = q; /* the last one wins */
        t->count = n + 1;
        forms_from(forms, t, depths, now);
        t->count = n;
    }
}

static void try_all_forms(void (*try)(struct tree *, void *), void *arg)
{
    struct forms forms = {.try = try, .arg = arg};
    uint32_t depths[QUEUES + 1];
    struct tree t = {0};

    forms_from(&forms, &t, depths, 0);
    assert_int_equal(forms.count, 3 + 14 + 70 + 353);
}

/* How many values a queue has in the complete part, and the one of this number. */
static uint32_t small_count(bool inner)
{
    return inner ? 3 * 3 * 3 : 3 * 2 * 2;
}

static struct share_child small_value(bool inner, uint32_t code)
{
    static const int64_t limits[] = {1, 2, SHARE_NO_LIMIT};

    if (inner)
        return (struct share_child){
            .weight = code / 9, .guarantee = code / 3 % 3, .limit = limits[code % 3]};
    return (struct share_child){.weight = code / 4,
                                .guarantee = code / 2 % 2,
                                .limit = SHARE_NO_LIMIT,
                                .demand = 1 + code % 2};
}

/* Returns whether the form has few enough cases. */
static bool try_small_values(struct tree *t, struct tally *tally)
{
    bool inner[QUEUES];
    uint64_t codes = 1;

    for (uint32_t q = 0; q < t->count; q++) {
        inner[q] = has_children(t, q);
        codes *= small_count(inner[q]);
        if (codes * (AMOUNT + 1) > 1000000)
            return false;
    }
    for (uint64_t code = 0; code < codes; code++) {
        uint64_t rest = code;

        for (uint32_t q = 0; q < t->count; q++) {
            t->queues[q] = small_value(inner[q], (uint32_t)(rest % small_count(inner[q])));
            rest /= small_count(inner[q]);
        }
        for (int64_t amount = 0; amount <= AMOUNT; amount++)
            try_tree(t, amount, tally);
    }
    return true;
}

struct small_forms {
    struct tally tally;
    uint32_t complete;
};

static void try_form_small(struct tree *t, void *arg)
{
    struct small_forms *small = arg;

    small->complete += try_small_values(t, &small->tally);
}

static void every_small_tree_of_small_values(void **state)
{
    struct small_forms small = {0};

    (void)state;
    try_all_forms(try_form_small, &small);
    print_message("# complete: %u forms\n", small.complete);
    /* 1 leaf: 3. 2 leaves under 0, 1, 2 inner queues: 1, 3, 6. 3 leaves, 0, 1: 1, 6. 4 leaves: 1 */
    assert_int_equal(small.complete, 3 + 10 + 7 + 1);
    expect_variety(&small.tally);
}

struct sample {
    struct tally tally;
    struct rng rng;
};

static void draw_values(struct tree *t, struct rng *rng)
{
    for (uint32_t q = 0; q < t->count; q++) {
        t->queues[q] = every_value((uint32_t)rng_below(rng, 375));
        if (has_children(t, q) && rng_below(rng, 2))
            t->queues[q].limit = SHARE_NO_LIMIT;
    }
}

static void try_form_sampled(struct tree *t, void *arg)
{
    struct sample *sample = arg;

    for (uint32_t i = 0; i < SAMPLES; i++) {
        uint32_t leaf;

        draw_values(t, &sample->rng);
        do
            leaf = (uint32_t)rng_below(&sample->rng, t->count);
        while (has_children(t, leaf));
        for (int64_t amount = 0; amount <= AMOUNT; amount++) {
            try_tree(t, amount, &sample->tally);
            try_more_demand(t, leaf, amount, &sample->tally);
        }
    }
}

static void a_sample_of_every_form_of_trees_of_every_value(void **state)
{
    struct sample sample = {0};

    (void)state;
    rng_init(&sample.rng, 1);
    try_all_forms(try_form_sampled, &sample);
    assert_int_equal(sample.tally.cases, 440 * SAMPLES * 9);
    assert_true(sample.tally.raised > 0);
    expect_variety(&sample.tally);
}

/* ---- larger amounts ---- */

/* A number of at most so many bits, small ones and 0 too. */
static int64_t draw_number(struct rng *rng, uint32_t bits)
{
    return (int64_t)rng_below(rng, 1ull << rng_below(rng, bits + 1));
}

static void draw_children(struct tree *t, struct rng *rng, uint32_t bits)
{
    t->count = 1 + (uint32_t)rng_below(rng, QUEUES);
    memset(t->parents, 0xff, sizeof t->parents);
    for (uint32_t q = 0; q < t->count; q++)
        t->queues[q] = (struct share_child){
            .guarantee = rng_below(rng, 2) ? draw_number(rng, bits) : 0,
            .limit = rng_below(rng, 2) ? draw_number(rng, bits) : SHARE_NO_LIMIT,
            .demand = draw_number(rng, bits),
            .weight = (uint32_t)smaller(draw_number(rng, 20), 1000000)};
}

static void amounts_of_thousands_are_given_as_if_by_units(void **state)
{
    struct tally tally = {0};
    struct tree t = {0};
    struct rng rng;

    (void)state;
    rng_init(&rng, 2);
    for (uint32_t i = 0; i < 10000; i++) {
        draw_children(&t, &rng, 11);
        try_tree(&t, draw_number(&rng, 12), &tally);
    }
    expect_variety(&tally);
}

/* Is the last unit of a before the next one of b? Else unit by unit would have given that. */
static bool before(int64_t given_a, int64_t weight_a, int64_t given_b, int64_t weight_b,
                   bool a_first)
{
    const wide last = (wide)given_a * weight_b, next = ((wide)given_b + 1) * weight_a;

    return last < next || (a_first && last == next);
}

/* Of every two children of which one got something and the other is not full. Together with the
 * sum that is all of the definition. */
static bool is_poured(const struct tree *t, const struct brute *b)
{
    for (uint32_t x = 0; x < t->count; x++)
        for (uint32_t y = 0; y < t->count; y++)
            if (x != y && b->weights[x] > 0 && b->weights[y] > 0 && b->given[x] > 0 &&
                b->given[y] < b->tops[y] &&
                !before(b->given[x], b->weights[x], b->given[y], b->weights[y], x < y))
                return false;
    return true;
}

/* Is nobody above its lower mark who comes after one that is not full? */
static bool is_after(const struct tree *t, const struct brute *b)
{
    bool wanting = false, spare = false;

    for (uint32_t q = 0; q < t->count; q++) {
        wanting = wanting || (t->queues[q].weight > 0 && b->given[q] < b->tops[q]);
        spare = spare || (t->queues[q].weight == 0 && b->given[q] > 0);
    }
    return !wanting || !spare;
}

static bool is_divided(const struct tree *t, int64_t amount, struct brute *b, struct tally *tally)
{
    wide bases = 0, caps = 0, sum = 0;
    bool over, ok;

    for (uint32_t q = 0; q < t->count; q++) {
        b->caps[q] = smaller(t->queues[q].demand, t->queues[q].limit);
        b->bases[q] = smaller(t->queues[q].guarantee, b->caps[q]);
        bases += b->bases[q];
        caps += b->caps[q];
        sum += t->queues[q].deserved;
    }
    over = bases > amount;
    tally->over += over;
    ok = sum == (caps < amount ? caps : amount);
    for (uint32_t q = 0; q < t->count; q++) {
        b->given[q] = t->queues[q].deserved - (over ? 0 : b->bases[q]);
        b->tops[q] = over ? b->bases[q] : b->caps[q] - b->bases[q];
        b->weights[q] = over ? t->queues[q].guarantee : t->queues[q].weight;
        ok = ok && b->given[q] >= 0 && b->given[q] <= b->tops[q];
    }
    ok = ok && is_poured(t, b);
    if (over)
        return ok;
    for (uint32_t q = 0; q < t->count; q++) {
        b->weights[q] = t->queues[q].weight == 0;
        tally->spare += b->weights[q] > 0 && b->given[q] > 0;
    }
    return ok && is_after(t, b) && is_poured(t, b);
}

static void huge_amounts_are_given_as_the_definition_says(void **state)
{
    struct tally tally = {0};
    struct tree t = {0};
    struct brute b;
    struct rng rng;

    (void)state;
    memset(&b, 0, sizeof b);
    rng_init(&rng, 3);
    for (; tally.cases < 300000; tally.cases++) {
        const int64_t amount =
            rng_below(&rng, 2) ? (INT64_C(1) << 62) - draw_number(&rng, 62) : draw_number(&rng, 62);

        draw_children(&t, &rng, 63);
        share_divide(amount, t.queues, t.count);
        if (!is_divided(&t, amount, &b, &tally)) {
            print_tree(&t, &b, amount);
            fail_msg("not what the definition says");
        }
    }
    expect_variety(&tally);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(every_one_and_two_children_of_every_value),
        TEST(every_three_children_of_every_guarantee_cap_and_weight),
        TEST(every_four_children_of_small_values),
        TEST(every_small_tree_of_small_values),
        TEST(a_sample_of_every_form_of_trees_of_every_value),
        TEST(amounts_of_thousands_are_given_as_if_by_units),
        TEST(huge_amounts_are_given_as_the_definition_says),
    };

    return RUN_TESTS(tests);
}
