/* SPDX-License-Identifier: Apache-2.0 */
/* utf8.h - is this text UTF-8 (RFC 3629: no surrogates, nothing overlong, up to U+10FFFF)? */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* Bytes of the character at the start of bytes[count], 1..4; 0 if it is none, or count is 0. */
size_t utf8_char_bytes(const char *bytes, size_t count);

/* How many bytes from the start are whole, valid characters: count if all are. */
size_t utf8_valid_bytes(const char *bytes, size_t count);

/* Writes the character and returns its bytes, 1..4. code is not a surrogate, at most 0x10ffff. */
size_t utf8_encode(uint32_t code, char out[static 4]);
