// What is in use of a block, one array after the other.
#include <string.h>

#include "operators.h"

enum { NUM_PARTS = 9 };
struct part { uint64_t offset, size; };

static void find_parts(const aloex *block, struct part parts[NUM_PARTS]) {
  const struct part found[NUM_PARTS] = {
      {0, sizeof *block},
      {block->inputs, block->num_inputs * sizeof(struct input)},
      {block->hits, 8 * (uint64_t)block->options.num_edges * sizeof(uint64_t)},
      {block->seen, block->options.num_edges},
      {block->tokens, ALOEX_NUM_KINDS * ALOEX_MAX_TOKENS * sizeof(struct token)},
      {block->features, block->num_features * sizeof(uint32_t)},
      {block->edits, block->num_edits * sizeof(struct aloex_edit)},
      {block->data, block->num_bytes},
      {block->likely, block->num_likely * sizeof(struct aloex_likely)},
  };
  memcpy(parts, found, sizeof found);
}

static size_t sum(const struct part parts[NUM_PARTS]) {
  size_t size = 0;
  for (int i = 0; i < NUM_PARTS; i++) size += parts[i].size;
  return size;
}

size_t aloex_packed_size(const aloex *block) {
  struct part parts[NUM_PARTS];
  find_parts(block, parts);
  return sum(parts);
}

void aloex_pack(const aloex *block, uint8_t *out) {
  struct part parts[NUM_PARTS];
  find_parts(block, parts);
  for (int i = 0; i < NUM_PARTS; out += parts[i++].size)
    memcpy(out, (const uint8_t *)block + parts[i].offset, parts[i].size);
}

static int fits(const aloex *old, const aloex *block) {
  // The options, where the arrays are, and how large they may become.
  return !memcmp(old, block, offsetof(aloex, num_inputs)) &&
         old->num_inputs <= old->options.max_inputs && old->num_bytes <= old->options.max_bytes &&
         old->num_features <= block->max_features && old->num_edits <= block->max_edits &&
         old->num_likely <= old->options.max_bytes;
}

int aloex_unpack(aloex *block, const uint8_t *packed, size_t size) {
  static aloex old;  // too large for a stack
  if (size < sizeof old) return 0;
  memcpy(&old, packed, sizeof old);
  struct part parts[NUM_PARTS];
  find_parts(&old, parts);
  if (!fits(&old, block) || sum(parts) != size) return 0;
  for (int i = 0; i < NUM_PARTS; packed += parts[i++].size)
    memcpy((uint8_t *)block + parts[i].offset, packed, parts[i].size);
  aloex_plan(block);
  return 1;
}
