/* FAULT(name, condition) names a planted fault where it happens. Only the program that judges
   inputs is compiled with NAME_FAULTS: what is fuzzed has nothing of it. */
#ifndef ALOEX_FAULT_H
#define ALOEX_FAULT_H

#ifdef NAME_FAULTS
#include <stdio.h>
#define FAULT(name, condition) ((condition) ? (void)fprintf(stderr, "\nFAULT %s\n", name) : (void)0)
#else
#define FAULT(name, condition) ((void)0)
#endif

#endif
