/* Packets on a line: 0x7e, a kind, a length of two bytes (big endian), so many bytes, and Fletcher's
   checksum of 16 bits over all of that but the first byte. What has a wrong checksum is skipped.

       1 hello      version, then a name
       2 fragment   place and whole size (two bytes each), then bytes
       3 list       a count, then items: a length and so many bytes
       4 received   a count of bits (two bytes), then the numbers of those that came */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../fault.h"

enum { START = 0x7e };

struct line {
  uint8_t *whole;
  size_t size, got;
  int version;
};

static volatile unsigned taken;

static uint16_t fletcher(const uint8_t *p, size_t n) {
  unsigned low = 0, high = 0;
  for (size_t i = 0; i < n; i++) {
    low = (low + p[i]) % 255;
    high = (high + low) % 255;
  }
  return (uint16_t)(high << 8 | low);
}

static size_t read16(const uint8_t *p) { return (size_t)p[0] << 8 | p[1]; }

static void read_hello(struct line *l, const uint8_t *body, size_t n) {
  if (n < 2) return;
  l->version = body[0];
  char *name = malloc(n);
  if (!name) return;
  memcpy(name, body + 1, n - 1);
  name[n - 1] = 0;
  taken += (unsigned)strlen(name);
  free(name);
}

static void read_fragment(struct line *l, const uint8_t *body, size_t n) {
  if (n < 5 || l->version < 1) return;
  size_t place = read16(body), size = read16(body + 2);
  if (!l->whole) {
    l->whole = calloc(1, size + 1);
    l->size = size;
  }
  /* A later fragment is held against the size that it names, not against that of the first. */
  if (!l->whole || n - 4 > size || place > size - (n - 4)) return;
  FAULT("fragment", place + n - 4 > l->size + 1);
  memcpy(l->whole + place, body + 4, n - 4);
  l->got += n - 4;
  if (l->got == l->size) taken += l->whole[l->size - 1];
}

static void read_list(const struct line *l, const uint8_t *body, size_t n) {
  size_t at = 1;
  if (n < 1 || l->version < 2) return;
  uint8_t *own = malloc(n); /* a copy, so that reading past it is seen whatever follows */
  if (!own) return;
  memcpy(own, body, n);
  for (unsigned i = 0; i < own[0] && at < n; i++) {
    size_t length = own[at++];
    if (length > n) break; /* should be what is left */
    FAULT("list", length > 0 && at + length > n);
    for (size_t k = 0; k < length; k++) taken += own[at + k];
    at += length;
  }
  free(own);
}

static void read_received(const struct line *l, const uint8_t *body, size_t n) {
  if (n < 3 || l->version < 1) return;
  size_t bits = read16(body);
  uint8_t *map = calloc(1, bits / 8 + (bits < 8)); /* rounded down */
  if (!map) return;
  for (size_t i = 2; i < n; i++) {
    if (body[i] >= bits) continue;
    FAULT("received", body[i] / 8u >= bits / 8 + (bits < 8));
    map[body[i] / 8] |= (uint8_t)(1 << body[i] % 8);
  }
  taken += map[0];
  free(map);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct line l = {0};
  for (size_t at = 0; at + 6 <= size;) {
    if (data[at] != START) {
      at++;
      continue;
    }
    size_t n = read16(data + at + 2);
    const uint8_t *body = data + at + 4;
    if (n > size - at - 6 || fletcher(data + at + 1, n + 3) != read16(body + n)) {
      at++; /* not a packet, or a damaged one: look for the next */
      continue;
    }
    switch (data[at + 1]) {
      case 1: read_hello(&l, body, n); break;
      case 2: read_fragment(&l, body, n); break;
      case 3: read_list(&l, body, n); break;
      case 4: read_received(&l, body, n); break;
    }
    at += n + 6;
  }
  free(l.whole);
  return 0;
}
