// Runs one launch of compiled code: `on_arm64 IMAGE`. See on_arm64.py.
//
// The image: address of the launch's block, address of the worker's block, number of regions; then of each
// region its address and size, both multiples of a page, and its bytes. They lie at the same addresses here,
// and are written back when the kernel has ended.
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { REGIONS = 64, TAKEN = 4, BROKEN = 5 };

extern void simt_kernel(void *launch, void *worker);

static uint64_t number(FILE *file) {
  uint64_t value;
  if (fread(&value, sizeof value, 1, file) != 1) exit(BROKEN);
  return value;
}

int main(int count, char **arguments) {
  FILE *file = count == 2 ? fopen(arguments[1], "r+b") : NULL;
  if (!file) return BROKEN;
  void *launch = (void *)number(file), *worker = (void *)number(file);
  uint64_t regions = number(file), size[REGIONS];
  void *at[REGIONS];
  long place[REGIONS];
  if (regions > REGIONS) return BROKEN;
  for (uint64_t i = 0; i < regions; i++) {
    at[i] = (void *)number(file);
    size[i] = number(file);
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;
    if (mmap(at[i], size[i], PROT_READ | PROT_WRITE, flags, -1, 0) != at[i]) return TAKEN;
    place[i] = ftell(file);
    if (fread(at[i], 1, size[i], file) != size[i]) return BROKEN;
  }
  simt_kernel(launch, worker);
  for (uint64_t i = 0; i < regions; i++) {
    fseek(file, place[i], SEEK_SET);
    if (fwrite(at[i], 1, size[i], file) != size[i]) return BROKEN;
  }
  return fclose(file) ? BROKEN : 0;
}
