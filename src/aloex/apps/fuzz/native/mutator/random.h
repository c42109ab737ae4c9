// A counter-based generator: draw i of a stream is a hash of the stream's key and of i, so a stream
// can begin anywhere and needs no state beyond two numbers. The hash is SplitMix64's.
#pragma once
#include <stdint.h>

static const uint64_t GOLDEN = 0x9e3779b97f4a7c15u;

struct random {
  uint64_t key, counter;
};

static inline uint64_t mix(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

static inline struct random random_stream(uint64_t seed, uint64_t number) {
  return (struct random){mix(mix(seed + GOLDEN) + number), 0};
}

static inline uint64_t random_bits(struct random *r) {
  return mix(r->key + ++r->counter * GOLDEN);
}

// Uniform in 0..n - 1; n must not be 0. The bias is below n / 2^64.
static inline uint64_t random_below(struct random *r, uint64_t n) {
  return (uint64_t)(((unsigned __int128)random_bits(r) * n) >> 64);
}

// Uniform in [0, 1).
static inline double random_unit(struct random *r) { return (random_bits(r) >> 11) * 0x1p-53; }
