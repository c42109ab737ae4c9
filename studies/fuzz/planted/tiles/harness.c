/* Little images with a palette. An image is "T1", width, height, depth (4 or 8), flags, then chunks:
   a letter, a length of two bytes (little endian), and so many bytes.

       P   palette: three bytes for each colour
       H   histogram: two bytes for each colour
       K   keyword and text, with a zero between them
       R   pixels, run by run: n < 128: n + 1 pixels follow; else one pixel, n - 126 times

   Four faults overflow the heap by a little; none of them crashes by itself. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../fault.h"

enum { INTERLACED = 1 };

struct image {
  unsigned width, height, depth, flags;
  uint8_t *palette, *pixels;
  uint16_t *histogram;
  size_t num_colours, num_pixels, filled;
};

static volatile unsigned shown; /* keeps the compiler from leaving things out */

static void read_histogram(struct image *im, const uint8_t *body, size_t length) {
  size_t count = length / 2;
  if (im->num_colours == 0 || im->histogram || count > 256) return;
  im->histogram = malloc(im->num_colours * 2);
  if (!im->histogram) return;
  for (size_t i = 0; i < count; i++) { /* should stop at num_colours */
    FAULT("histogram", i >= im->num_colours);
    im->histogram[i] = (uint16_t)(body[2 * i] | body[2 * i + 1] << 8);
  }
}

static void read_keyword(const uint8_t *body, size_t length) {
  size_t kept = length < 40 ? length : 40;
  char *key = malloc(kept < 40 ? kept + 1 : kept); /* no room for the zero of a long one */
  if (!key) return;
  memcpy(key, body, kept);
  if (kept < 40) key[kept] = 0;
  FAULT("keyword", kept == 40 && !memchr(body, 0, 40));
  if (strlen(key) > 1 && key[0] >= 'A' && key[0] <= 'Z') shown += (unsigned)strlen(key);
  free(key);
}

static void read_pixels(struct image *im, const uint8_t *body, size_t length) {
  size_t per_byte = im->depth == 4 ? 2 : 1, size = im->num_pixels / per_byte, at = 0;
  if (im->num_colours == 0) return;
  while (at + 1 < length && im->filled < size) {
    size_t n = body[at] < 128 ? body[at] + 1u : body[at] - 126u;
    if (body[at] < 128) {
      if (n > length - at - 1 || n > size - im->filled) return;
      memcpy(im->pixels + im->filled, body + at + 1, n);
      at += n + 1;
    } else {
      if (im->depth == 8 && n > size - im->filled) n = size - im->filled;
      FAULT("run", n > size - im->filled); /* of two pixels to a byte, it is not cut off */
      memset(im->pixels + im->filled, body[at + 1], n);
      at += 2;
    }
    im->filled += n;
  }
}

static void show_line(const struct image *im, unsigned y) {
  unsigned line = y;
  if (im->flags & INTERLACED) /* first all even lines, then all odd ones */
    line = y % 2 ? (im->height + 2) / 2 + y / 2 : y / 2; /* should be height + 1: for even heights */
  for (unsigned x = 0; x < im->width; x++) {
    size_t at = (size_t)line * im->width + x;
    FAULT("interlaced", at >= im->num_pixels);
    unsigned colour = im->pixels[at];
    if (colour < im->num_colours) shown += im->palette[3 * colour];
  }
}

static void read_chunk(struct image *im, char kind, const uint8_t *body, size_t length) {
  if (kind == 'P' && !im->palette && length >= 3 && length <= 768) {
    im->num_colours = length / 3;
    im->palette = malloc(length);
    if (im->palette) memcpy(im->palette, body, length);
  } else if (kind == 'H') {
    read_histogram(im, body, length);
  } else if (kind == 'K') {
    read_keyword(body, length);
  } else if (kind == 'R') {
    read_pixels(im, body, length);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct image im = {0};
  size_t at = 6;
  if (size < 6 || data[0] != 'T' || data[1] != '1') return 0;
  im.width = data[2], im.height = data[3], im.depth = data[4], im.flags = data[5];
  if (im.width < 2 || im.height < 2 || (im.depth != 4 && im.depth != 8)) return 0;
  im.num_pixels = (size_t)im.width * im.height;
  im.pixels = calloc(1, im.depth == 4 ? im.num_pixels / 2 : im.num_pixels);
  while (im.pixels && at + 3 <= size) {
    size_t length = data[at + 1] | (size_t)data[at + 2] << 8;
    if (length > size - at - 3) break;
    read_chunk(&im, (char)data[at], data + at + 3, length);
    at += 3 + length;
  }
  if (im.pixels && im.palette && im.depth == 8 && im.filled == im.num_pixels)
    for (unsigned y = 0; y < im.height; y++) show_line(&im, y);
  free(im.pixels);
  free(im.palette);
  free(im.histogram);
  return 0;
}
