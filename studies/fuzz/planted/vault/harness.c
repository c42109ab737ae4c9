/* A container: "VLT", a version of one byte, then sections: a tag of four bytes, a length of two
   bytes (little endian), and so many bytes.

       META   words "name=value;"
       DATA   what is kept
       KEYS   a count, then so many keys of four bytes; some keys mean more

   No seed has a section of keys, a signed DATA, or the words that the faults hide behind. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../fault.h"

#define SIGNATURE UINT64_C(0x1d0c5afe8badf00d)
#define ROLLOVER UINT32_C(0xc0dec0de)

struct vault {
  uint8_t *data;
  size_t size, row;
  int is_packed;
};

static volatile unsigned seen;

static uint32_t read32(const uint8_t *p) {
  return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static void set_option(struct vault *v, const char *name, const char *value) {
  if (!strcmp(name, "title") || !strcmp(name, "author")) {
    seen += (unsigned)strlen(value);
  } else if (!strcmp(name, "transpose")) {
    v->row = strtoul(value, NULL, 10);
  } else if (!strcmp(name, "packing") && !strcmp(value, "nibbles")) {
    v->is_packed = 1;
  }
}

static void read_meta(struct vault *v, const uint8_t *body, size_t length) {
  char name[16] = "", value[16] = "", *to = name;
  size_t n = 0;
  for (size_t i = 0; i < length; i++) {
    if (body[i] == '=' && to == name) {
      to[n] = 0, to = value, n = 0;
    } else if (body[i] == ';') {
      to[n] = 0;
      if (to == value) set_option(v, name, value);
      to = name, n = 0;
    } else if (n < 15) {
      to[n++] = (char)body[i];
    }
  }
}

static void read_data(struct vault *v, const uint8_t *body, size_t length) {
  uint64_t first = length >= 8 ? read32(body) | (uint64_t)read32(body + 4) << 32 : 0;
  if (first == SIGNATURE) {
    uint8_t *signer = malloc(16);
    if (!signer) return;
    FAULT("signature", length - 8 > 16);
    memcpy(signer, body + 8, length - 8); /* whatever the length */
    seen += signer[0];
    free(signer);
  }
  free(v->data);
  v->data = malloc(length + 1);
  v->size = v->data ? length : 0;
  if (v->data) memcpy(v->data, body, length);
}

static void read_keys(const uint8_t *body, size_t length) {
  size_t count = length ? body[0] : 0;
  uint32_t *keys = malloc(count * sizeof *keys + 1);
  if (!keys || count == 0 || length < 1 + 4 * count) {
    free(keys);
    return;
  }
  for (size_t i = 0; i < count; i++) keys[i] = read32(body + 1 + 4 * i);
  if (length >= 4 * count + 9 && keys[0] == ROLLOVER && !memcmp(body + length - 8, "rollover", 8)) {
    for (size_t i = 0; i < count; i++) {
      FAULT("rollover", i + 1 == count);
      keys[i] = keys[i + 1]; /* reads one beyond the last */
    }
  }
  seen += keys[count - 1];
  free(keys);
}

static void show(const struct vault *v) {
  size_t step = v->row;
  if (step > 1 && step < v->size)
    for (size_t column = 0; column < step; column++)
      for (size_t i = column; i < v->size + step - 1; i += step) { /* as if all rows were full */
        FAULT("transpose", i > v->size);
        seen += v->data[i];
      }
  if (v->is_packed) {
    uint8_t *wide = malloc(v->size * 2 + 1);
    if (!wide) return;
    for (size_t i = 0, at = 0; i < v->size; i++) {
      /* A byte above 0xf0 is said to stand for three. */
      size_t n = v->data[i] > 0xf0 ? 3 : 2;
      for (; n > 0; n--) {
        FAULT("nibbles", at > v->size * 2);
        wide[at++] = v->data[i] & 15;
      }
    }
    seen += wide[0];
    free(wide);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct vault v = {0};
  size_t at = 4;
  if (size < 4 || memcmp(data, "VLT", 3) || data[3] > 3) return 0;
  while (size - at >= 6) {
    uint32_t tag = read32(data + at);
    size_t length = data[at + 4] | (size_t)data[at + 5] << 8;
    const uint8_t *body = data + at + 6;
    if (length > size - at - 6) break;
    if (tag == 0x4154454d) read_meta(&v, body, length); /* META */
    else if (tag == 0x41544144) read_data(&v, body, length); /* DATA */
    else if (tag == 0x5359454b) read_keys(body, length); /* KEYS */
    at += 6 + length;
  }
  if (v.data) show(&v);
  free(v.data);
  return 0;
}
