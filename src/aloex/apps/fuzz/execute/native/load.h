// The target: a shared library, or the program that the worker was preloaded into.
#pragma once
#include <stddef.h>
#include <stdint.h>

void load(char *target);
void die(const char *format, ...);  // before there is an arena: say why on stderr and exit

extern int (*test_one_input)(const uint8_t *, size_t);
extern struct module { uintptr_t base, end; } module;  // where it is in memory
