/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/json_out.h"

#include "unit/test.h"

struct fixture {
    struct text text;
    struct json_out json;
};

static void begin(struct fixture *f, size_t max)
{
    text_init(&f->text, max);
    json_out_init(&f->json, &f->text);
}

static void expect(struct fixture *f, const char *wanted)
{
    assert_true(json_out_is_complete(&f->json));
    assert_string_equal(text_str(&f->text), wanted);
    text_done(&f->text);
}

static void commas_and_colons_are_put_by_the_writer(void **state)
{
    static const char *const names[] = {"a", "b"};
    struct fixture f;

    (void)state;
    begin(&f, 1000);
    json_object_begin(&f.json);
    json_key_string(&f.json, "s", "x");
    json_key(&f.json, "list");
    json_array_begin(&f.json);
    json_i64(&f.json, -1);
    json_array_begin(&f.json);
    json_array_end(&f.json);
    json_object_begin(&f.json);
    json_key_bool(&f.json, "t", true);
    json_key_bool(&f.json, "f", false);
    json_object_end(&f.json);
    json_null(&f.json);
    json_array_end(&f.json);
    json_key_null(&f.json, "n");
    json_key_strings(&f.json, "names", names, 2);
    assert_false(json_out_is_complete(&f.json));
    json_object_end(&f.json);
    expect(&f, "{\"s\":\"x\",\"list\":[-1,[],{\"t\":true,\"f\":false},null],\"n\":null,"
               "\"names\":[\"a\",\"b\"]}");
}

static void numbers_are_exact(void **state)
{
    struct fixture f;

    (void)state;
    begin(&f, 1000);
    json_array_begin(&f.json);
    json_i64(&f.json, INT64_MIN);
    json_i64(&f.json, INT64_MAX);
    json_u64(&f.json, UINT64_MAX);
    json_u64(&f.json, 0);
    json_fixed(&f.json, 12345, 3);
    json_fixed(&f.json, -5, 3);
    json_fixed(&f.json, 0, 2);
    json_fixed(&f.json, 7, 0);
    json_fixed(&f.json, INT64_MIN, 18);
    json_array_end(&f.json);
    expect(&f, "[-9223372036854775808,9223372036854775807,18446744073709551615,0,12.345,-0.005,"
               "0.00,7,-9.223372036854775808]");
}

static void strings_are_escaped_and_made_utf8(void **state)
{
    struct fixture f;

    (void)state;
    begin(&f, 1000);
    json_string(&f.json, "\"\\/\b\f\n\r\t\x01\x7f \xc3\xa9\xf0\x9f\x98\x80 \xff\xc3|\xed\xa0\x80");
    expect(&f, "\"\\\"\\\\/\\b\\f\\n\\r\\t\\u0001\\u007f \xc3\xa9\xf0\x9f\x98\x80 "
               "\xef\xbf\xbd\xef\xbf\xbd|\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
}

static void a_full_buffer_shows_as_overflow(void **state)
{
    struct fixture f;

    (void)state;
    begin(&f, 5);
    json_string(&f.json, "123456");
    assert_true(f.text.overflow);
    text_done(&f.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(commas_and_colons_are_put_by_the_writer),
        TEST(numbers_are_exact),
        TEST(strings_are_escaped_and_made_utf8),
        TEST(a_full_buffer_shows_as_overflow),
    };

    return RUN_TESTS(tests);
}
