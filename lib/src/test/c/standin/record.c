/* The transcript. */
#include "standin.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char text[1 << 18];
static size_t length;

static void append(const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	length += vsnprintf(text + length, sizeof text - length, format, arguments);
	va_end(arguments);
	if (length >= sizeof text)
		abort();
}

void called(const char *function)
{
	append("%s%s", length ? "\n" : "", function);
}

void number(const char *name, uint64_t value)
{
	append(" %s=%#lx", name, value);
}

void bytes(const char *name, const void *pointer, size_t size)
{
	append(" %s=%zu{", name, size);
	for (size_t at = 0; at < size; at += 4) {
		uint8_t group[4] = {0};
		memcpy(group, (const char *)pointer + at, size - at < 4 ? size - at : 4);
		if (group[0] | group[1] | group[2] | group[3])
			append(" %zu:%02x%02x%02x%02x", at, group[0], group[1], group[2], group[3]);
	}
	append("}");
}

const char *transcript(void)
{
	return text;
}

void forget(void)
{
	length = 0;
	text[0] = 0;
}
