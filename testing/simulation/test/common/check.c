#define _GNU_SOURCE
#include "check.h"
#include <dlfcn.h>

int checks, failures;

int result(void)
{
	printf("%s: %d checks, %d failures\n", program_invocation_short_name, checks, failures);
	return failures != 0;
}

void *simulation(const char *name)
{
	void *function = dlsym(RTLD_DEFAULT, name);
	if (!function)
		printf("%s is not in the simulation\n", name);
	CHECK(function);
	return function;
}
