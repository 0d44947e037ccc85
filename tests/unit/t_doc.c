/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/doc.h"

#include <stdio.h>

#include "base/text.h"
#include "unit/wire_test.h"
#include "wire/arena.h"
#include "wire/fields.h"

struct fixture {
    struct arena arena;
    struct doc doc;
};

static void begin(struct fixture *f, const char *name)
{
    arena_init(&f->arena);
    doc_init(&f->doc, name, &f->arena);
}

static void end(struct fixture *f)
{
    doc_done(&f->doc);
    arena_done(&f->arena);
}

static void fails(const char *name, const char *text, const char *wanted)
{
    struct fixture f;

    begin(&f, name);
    FAILS_WITH(doc_parse(&f.doc, text, strlen(text), &err), wanted);
    end(&f);
}

static const struct doc_node *child(const struct doc *doc, const struct doc_node *parent,
                                    uint32_t index)
{
    const struct doc_node *node = doc_first(doc, parent);

    while (index-- > 0)
        node = doc_next(doc, node);
    return node;
}

static void yaml_and_json_give_the_same_tree(void **state)
{
    static const char *const texts[] = {
        "a.yaml",
        "name: x\ntasks:\n  - gpus: 1.50\n  - [a, 'b c']\n",
        "a.json",
        "{\"name\":\"x\",\n\n\"tasks\":[{\"gpus\":1.50},\n[\"a\",\"b c\"]]}",
    };

    (void)state;
    for (size_t i = 0; i < 4; i += 2) {
        const struct doc_node *map, *tasks, *list;
        struct fixture f;

        begin(&f, texts[i]);
        WORKS(doc_parse(&f.doc, texts[i + 1], strlen(texts[i + 1]), &err));
        map = doc_first(&f.doc, doc_root(&f.doc));
        assert_int_equal(map->type, DOC_MAP);
        assert_string_equal(doc_find(&f.doc, map, "name")->text, "x");
        tasks = doc_find(&f.doc, map, "tasks");
        assert_int_equal(tasks->type, DOC_LIST);
        assert_string_equal(doc_first(&f.doc, child(&f.doc, tasks, 0))->text, "1.50");
        list = child(&f.doc, tasks, 1);
        assert_int_equal(list->line, 4);
        assert_string_equal(child(&f.doc, list, 1)->text, "b c");
        assert_null(doc_find(&f.doc, map, "nothing"));
        end(&f);
    }
}

static void errors_name_file_line_and_path(void **state)
{
    static const char text[] = "a: 1\ntasks:\n  - {gpus: 1}\n  - list: [1, 2, {x: 3}]\n";
    const struct doc_node *node;
    struct fixture f;

    (void)state;
    begin(&f, "jobs.yaml");
    WORKS(doc_parse(&f.doc, text, strlen(text), &err));
    node = doc_find(&f.doc, doc_first(&f.doc, doc_root(&f.doc)), "tasks");
    node = doc_find(&f.doc, child(&f.doc, node, 1), "list");
    node = doc_find(&f.doc, child(&f.doc, node, 2), "x");
    FAILS_WITH(doc_error(&f.doc, node, &err, -1, "must be %d", 4),
               "jobs.yaml:4: tasks[1].list[2].x: must be 4");
    node = doc_first(&f.doc, doc_root(&f.doc));
    FAILS_WITH(doc_error(&f.doc, node, &err, -1, "is wrong"), "jobs.yaml:1: is wrong");
    end(&f);
}

static void broken_yaml_names_its_line(void **state)
{
    (void)state;
    fails("x.yaml", "a: 1\nb: [1, 2\nc: 3\n",
          "x.yaml:3: not YAML: did not find expected ',' or ']', while parsing a flow sequence");
    fails("x.yaml", "a: *nothing\n", "x.yaml:1: not YAML: found undefined alias");
    fails("x.yaml", "a: \xff\n", "x.yaml: not UTF-8 text (byte 3): invalid leading UTF-8 octet");
    fails("x.yaml", "a: 1\n? [b]\n: 2\n", "x.yaml:2: a field name must be text");
    fails("x.yaml", "a: \"x\\0y\"\n", "x.yaml:1: text has a NUL character");
}

static void broken_json_names_its_line(void **state)
{
    (void)state;
    fails("x.json", "", "x.json:1: not JSON: text ends early");
    fails("x.json", "{\"a\":1,\n\"b\" 2}", "x.json:2: not JSON: wanted ':' after a field name");
    fails("x.json", "{\"a\":1,\n}", "x.json:2: not JSON: wanted a field name in quotes");
    fails("x.json", "[1 2]", "x.json:1: not JSON: wanted ',' or ']'");
    fails("x.json", "{\"a\":1 2}", "x.json:1: not JSON: wanted ',' or '}'");
    fails("x.json", "[01]", "x.json:1: not JSON: wanted a value");
    fails("x.json", "[1.]", "x.json:1: not JSON: wanted a value");
    fails("x.json", "[1e]", "x.json:1: not JSON: wanted a value");
    fails("x.json", "{} {}", "x.json:1: not JSON: text after the end of the document");
    fails("x.json", "[\"a", "x.json:1: not JSON: string is not closed");
    fails("x.json", "[\"\\x\"]", "x.json:1: not JSON: unknown escape in a string");
    fails("x.json", "[\"\\u12g4\"]", "x.json:1: not JSON: a \\u escape needs four hex digits");
    fails("x.json", "[\"\\u0000\"]", "x.json:1: not JSON: a string with a NUL character");
    fails("x.json", "[\"\\ud800x\"]", "x.json:1: not JSON: half a surrogate pair");
    fails("x.json", "[\"\\udc00\"]", "x.json:1: not JSON: half a surrogate pair");
    fails("x.json", "[\"\t\"]", "x.json:1: not JSON: control character in a string");
    fails("x.json", "[\"\xc0\x80\"]", "x.json:1: not JSON: string is not UTF-8");
}

static void json_escapes_are_read(void **state)
{
    static const char text[] = "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\ud83d\\ude00\"";
    struct fixture f;

    (void)state;
    begin(&f, "x.json");
    WORKS(doc_parse(&f.doc, text, strlen(text), &err));
    assert_string_equal(doc_first(&f.doc, doc_root(&f.doc))->text,
                        "\"\\/\b\f\n\r\t\xc3\xa9\xf0\x9f\x98\x80");
    end(&f);
}

static void a_double_field_is_an_error_in_small_and_large_maps(void **state)
{
    struct text text;

    (void)state;
    fails("x.yaml", "a: 1\nb: 2\na: 3\n", "x.yaml:3: field 'a' is there twice");
    fails("x.json", "{\"a\":1,\n\"a\":2}", "x.json:2: field 'a' is there twice");
    text_init(&text, 1 << 16);
    for (int i = 0; i < 100; i++)
        text_addf(&text, "key%d: 1\n", i);
    text_add(&text, "key7: 1\n");
    fails("x.yaml", text_str(&text), "x.yaml:101: field 'key7' is there twice");
    text_clear(&text);
    for (int i = 0; i < 17; i++)
        text_addf(&text, "key%d: 1\n", i);
    text_add(&text, "key16: 1\n");
    fails("x.yaml", text_str(&text), "x.yaml:18: field 'key16' is there twice");
    text_done(&text);
}

static void depth_is_bounded(void **state)
{
    char text[100];

    (void)state;
    memset(text, '[', 40);
    text[40] = '\0';
    fails("x.json", text, "x.json:1: nested deeper than 32 levels");
    memset(text + 40, ']', 40);
    text[80] = '\0';
    fails("x.yaml", text, "x.yaml:1: nested deeper than 32 levels");
    fails("x.yaml", "a: &a [*a]\n", "x.yaml:1: nested deeper than 32 levels");
}

static void aliases_cannot_fill_the_memory(void **state)
{
    struct text text;

    (void)state;
    text_init(&text, 1 << 16);
    text_add(&text, "a0: &a0 x\n");
    for (int i = 1; i < 20; i++) {
        text_addf(&text, "a%d: &a%d [", i, i);
        for (int k = 0; k < 10; k++)
            text_addf(&text, "*a%d,", i - 1);
        text_add(&text, "]\n");
    }
    fails("x.yaml", text_str(&text), "x.yaml:1: more than 2097152 values");
    text_done(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(yaml_and_json_give_the_same_tree),
        TEST(errors_name_file_line_and_path),
        TEST(broken_yaml_names_its_line),
        TEST(broken_json_names_its_line),
        TEST(json_escapes_are_read),
        TEST(a_double_field_is_an_error_in_small_and_large_maps),
        TEST(depth_is_bounded),
        TEST(aliases_cannot_fill_the_memory),
    };

    return RUN_TESTS(tests);
}
