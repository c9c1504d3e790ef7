/* What every test begins and ends with. */
#pragma once
#include <errno.h>
#include <stdio.h>
#include <string.h>

extern int checks, failures;
#define CHECK(c) do { checks++; if (!(c)) { failures++; \
	printf("%s:%d: %s (errno %d %s)\n", __FILE__, __LINE__, #c, errno, strerror(errno)); } } while (0)

/* A part of a test, with its result. */
#define RUN(call) do { int before = failures; call; \
	printf("%-28s %s\n", #call, failures == before ? "ok" : "FAILED"); } while (0)

int result(void); /* for main to return */
void *simulation(const char *name); /* a function of the simulated adapter */
