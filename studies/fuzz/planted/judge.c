/* Runs each file of the command line in a process of its own, and tells how it ended:

       FAULT name   a planted fault happened (compiled with NAME_FAULTS)
       END failed   1 if a sanitizer or a signal ended it, else 0 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void run(const char *path) {
  FILE *file = fopen(path, "rb");
  uint8_t *data;
  size_t size;
  if (!file || fseek(file, 0, SEEK_END)) _exit(0);
  size = (size_t)ftell(file);
  rewind(file);
  data = malloc(size); /* exactly as long: reading past it is seen */
  if (!data || fread(data, 1, size, file) != size) _exit(0);
  fclose(file);
  alarm(5);
  LLVMFuzzerTestOneInput(data, size);
  _exit(0);
}

int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
      dup2(1, 2); /* in one stream with the endings */
      run(argv[i]);
    }
    if (child < 0 || waitpid(child, &status, 0) != child) return 1;
    printf("\nEND %d\n", status != 0);
    fflush(stdout);
  }
  return 0;
}
