/* Triangles. All numbers are little endian.

       "MSH1"
       4 bytes   number of vertices
       2 bytes   size of a vertex: 12, 16, 24 or 32
       4 bytes   number of faces, each of three indices
       1 byte    size of an index: 1, 2 or 4
       4 bytes   where the name begins, in the whole file
       4 bytes   its length
       2 bytes   width of the texture
       2 bytes   its height
       then the vertices, the faces, the texture (four bytes for each pixel), the name */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../fault.h"

enum { HEADER = 27, MAX_SIDE = 40000 };

static volatile unsigned drawn;

static uint32_t read_number(const uint8_t *p, size_t bytes) {
  uint32_t n = 0;
  for (size_t i = 0; i < bytes; i++) n |= (uint32_t)p[i] << 8 * i;
  return n;
}

/* Returns where the vertices end; 0 if they do not fit. */
static size_t read_vertices(const uint8_t *data, size_t size, uint32_t count, uint32_t each) {
  uint32_t bytes = count * each; /* wraps */
  size_t at = HEADER;
  if (bytes == 0 || bytes > size - at) return 0;
  uint8_t *vertices = malloc(bytes);
  if (!vertices) return 0;
  for (uint32_t i = 0; i < count && at + each <= size; i++, at += each) {
    FAULT("vertices", (uint64_t)i * each + each > bytes);
    memcpy(vertices + (size_t)i * each, data + at, each);
  }
  drawn += vertices[bytes - 1];
  free(vertices);
  return HEADER + bytes;
}

static size_t read_faces(const uint8_t *data, size_t size, size_t at, uint32_t count,
                         size_t index_size) {
  uint16_t bytes = (uint16_t)(count * 3 * index_size); /* cut off */
  if (bytes > size - at) return 0;
  uint32_t *indices = malloc((size_t)bytes / index_size * sizeof *indices + 1);
  if (!indices) return 0;
  for (size_t i = 0; i < (size_t)count * 3 && at + (i + 1) * index_size <= size; i++) {
    FAULT("faces", i >= bytes / index_size);
    indices[i] = read_number(data + at + i * index_size, index_size);
  }
  free(indices);
  return at + bytes;
}

static size_t read_texture(const uint8_t *data, size_t size, size_t at, int width, int height) {
  if (width > MAX_SIDE || height > MAX_SIDE) return 0;
  FAULT("texture", (int64_t)width * height * 4 > INT32_MAX);
  int bytes = width * height * 4; /* may overflow */
  if (bytes < 0 || (size_t)bytes > size - at) return 0;
  for (int i = 0; i < bytes; i += 4) drawn += data[at + (size_t)i];
  return at + (size_t)bytes;
}

static void read_name(const uint8_t *data, size_t size, uint32_t begin, uint32_t length) {
  if (begin + length > size || length > 64) return; /* wraps */
  char name[65] = "";
  FAULT("name", length > 0 && (uint64_t)begin + length > size);
  memcpy(name, data + begin, length);
  drawn += (unsigned)strlen(name);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < HEADER || memcmp(data, "MSH1", 4)) return 0;
  uint32_t num_vertices = read_number(data + 4, 4), each = read_number(data + 8, 2);
  uint32_t num_faces = read_number(data + 10, 4), index_size = data[14];
  int width = (int)read_number(data + 23, 2), height = (int)read_number(data + 25, 2);
  if (each != 12 && each != 16 && each != 24 && each != 32) return 0;
  if (index_size != 1 && index_size != 2 && index_size != 4) return 0;
  size_t at = read_vertices(data, size, num_vertices, each);
  if (at) at = read_faces(data, size, at, num_faces, index_size);
  if (at) at = read_texture(data, size, at, width, height);
  if (at) read_name(data, size, read_number(data + 15, 4), read_number(data + 19, 4));
  return 0;
}
