// The pool: inputs that mutants start from, and what they cover.
#include <string.h>

#include "state.h"

enum { MEAN_FEATURES = 4096, MEAN_EDITS = 64 };  // of an input, for which there is room

static uint64_t lay_out(aloex *block) {
  const struct aloex_options *o = &block->options;
  uint64_t at = sizeof *block;
  const struct { uint64_t *offset, size; } arrays[] = {
      {&block->inputs, o->max_inputs * sizeof(struct input)},
      {&block->cumulative, ALOEX_NUM_ORIGINS * o->max_inputs * sizeof(double)},
      {&block->hits, 8 * (uint64_t)o->num_edges * sizeof(uint64_t)},
      {&block->seen, o->num_edges},
      {&block->tokens, ALOEX_NUM_KINDS * ALOEX_MAX_TOKENS * sizeof(struct token)},
      {&block->features, block->max_features * sizeof(uint32_t)},
      {&block->edits, block->max_edits * sizeof(struct aloex_edit)},
      {&block->data, o->max_bytes},
      {&block->likely, o->max_bytes * sizeof(struct aloex_likely)},
  };
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
    at = (at + 63) / 64 * 64;
    *arrays[i].offset = at;
    at += arrays[i].size;
  }
  return at;
}

static uint64_t set_options(aloex *block, const struct aloex_options *options) {
  block->options = *options;
  block->max_features = (uint64_t)MEAN_FEATURES * options->max_inputs;
  block->max_edits = (uint64_t)MEAN_EDITS * options->max_inputs;
  return lay_out(block);
}

size_t aloex_size(const struct aloex_options *options) {
  aloex block;
  return set_options(&block, options);
}

void aloex_init(aloex *block, const struct aloex_options *options) {
  set_options(block, options);
  aloex_plan(block);
}

struct aloex_news aloex_news(const aloex *block, const uint32_t *features, size_t count) {
  struct aloex_news news = {0};
  for (size_t i = 0; i < count; i++) {
    uint8_t seen = SEEN(block)[features[i] / 8];
    news.edges += !seen;
    news.features += !(seen >> features[i] % 8 & 1);
  }
  return news;
}

static int has_room(const aloex *block, size_t size, size_t num_features) {
  return block->num_inputs < block->options.max_inputs &&
         block->num_bytes + size <= block->options.max_bytes &&
         block->num_features + num_features <= block->max_features;
}

int64_t aloex_add(aloex *block, const uint8_t *data, size_t size, const uint32_t *features,
                  size_t count, uint64_t cost) {
  struct aloex_news news = aloex_news(block, features, count);
  for (size_t i = 0; i < count; i++) SEEN(block)[features[i] / 8] |= 1 << features[i] % 8;
  if (!has_room(block, size, count)) return -1;
  INPUTS(block)[block->num_inputs] = (struct input){.data = block->num_bytes,
                                                    .features = block->num_features,
                                                    .size = size,
                                                    .num_features = count,
                                                    .new_edges = news.edges,
                                                    .cost = cost};
  memcpy(DATA(block) + block->num_bytes, data, size);
  memcpy(ARRAY(block, features, uint32_t) + block->num_features, features,
         count * sizeof *features);
  block->num_bytes += size;
  block->num_features += count;
  return block->num_inputs++;
}

// Whether an edit is one of this input: those of a process that a target has damaged may not be.
static int is_within(const struct aloex_edit *edit, const struct input *input) {
  return (uint64_t)edit->position + edit->old_size <= input->size &&
         edit->size <= sizeof edit->bytes && (edit->size || !edit->order);
}

void aloex_set_trace(aloex *block, uint64_t i, const struct aloex_edit *edits, size_t count,
                     uint64_t cost) {
  struct input *input = &INPUTS(block)[i];
  if (block->num_edits + count > block->max_edits) count = 0;
  input->edits = block->num_edits;
  input->cost = cost;
  for (size_t k = 0; k < count; k++)
    if (is_within(&edits[k], input))
      ARRAY(block, edits, struct aloex_edit)[block->num_edits++] = edits[k];
  input->num_edits = block->num_edits - input->edits;
}

void aloex_add_token(aloex *block, enum aloex_token_kind kind, const uint8_t *bytes, size_t size) {
  if (size == 0 || size > ALOEX_TOKEN_SIZE) return;
  struct token *tokens = TOKENS(block, kind), token = {.size = size};
  memcpy(token.bytes, bytes, size);
  for (uint64_t i = 0; i < count_tokens(block, kind); i++)
    if (!memcmp(&tokens[i], &token, sizeof token)) return;
  tokens[block->num_tokens[kind]++ % ALOEX_MAX_TOKENS] = token;
}

void aloex_set_likely(aloex *block, uint64_t i, const struct aloex_likely *likely) {
  struct input *input = &INPUTS(block)[i];
  if (!input->has_likely) {
    input->has_likely = 1;
    input->likely = block->num_likely;
    block->num_likely += input->size;
    block->num_predicted++;
  }
  memcpy(ARRAY(block, likely, struct aloex_likely) + input->likely, likely,
         input->size * sizeof *likely);
}
