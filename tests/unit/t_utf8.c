/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/utf8.h"

#include <string.h>

#include "unit/test.h"

static size_t valid(const char *text)
{
    return utf8_valid_bytes(text, strlen(text));
}

static void characters_of_one_to_four_bytes_are_valid(void **state)
{
    (void)state;
    assert_int_equal(utf8_char_bytes("a", 1), 1);
    assert_int_equal(utf8_char_bytes("\xc3\xa9", 2), 2);
    assert_int_equal(utf8_char_bytes("\xe2\x82\xac", 3), 3);
    assert_int_equal(utf8_char_bytes("\xf0\x9f\x98\x80", 4), 4);
    assert_int_equal(utf8_char_bytes("", 0), 0);
    assert_int_equal(valid("plain text, longer than eight bytes \xc3\xa9"), 38);
}

static void what_is_not_utf8_ends_the_valid_part(void **state)
{
    (void)state;
    assert_int_equal(valid("ab\xff"), 2);
    assert_int_equal(valid("ab\xc3"), 2);   /* cut */
    assert_int_equal(valid("\xc0\x80"), 0); /* overlong */
    assert_int_equal(valid("\xe0\x80\x80"), 0);
    assert_int_equal(valid("\xed\xa0\x80"), 0);     /* surrogate */
    assert_int_equal(valid("\xf4\x90\x80\x80"), 0); /* above U+10FFFF */
    assert_int_equal(valid("\xf0\x9f\x98 "), 0);
}

static void every_character_survives_encoding(void **state)
{
    (void)state;
    for (uint32_t code = 1; code <= 0x10ffff; code += code < 0x800 ? 1 : 97) {
        char bytes[4];

        if (code >= 0xd800 && code <= 0xdfff)
            continue;
        assert_int_equal(utf8_char_bytes(bytes, utf8_encode(code, bytes)), code < 0x80      ? 1
                                                                           : code < 0x800   ? 2
                                                                           : code < 0x10000 ? 3
                                                                                            : 4);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(characters_of_one_to_four_bytes_are_valid),
        TEST(what_is_not_utf8_ends_the_valid_part),
        TEST(every_character_survives_encoding),
    };

    return RUN_TESTS(tests);
}
