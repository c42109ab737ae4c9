/* Accounts, by commands, one in a line:

       open NAME       close NAME     add NAME NUMBER   under NAME PARENT   total NAME
       use NAME        pay NUMBER     undo              again NUMBER

   An account that others are under cannot be closed. Four faults use what was freed. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../fault.h"

enum { MAX_ACCOUNTS = 12, FIRST_ROOM = 8, MAX_ENTRIES = 64 };

struct account {
  char name[8];
  unsigned sum;
  int num_under;
  struct account *parent;
};

struct entry {
  struct account *account;
  unsigned amount;
};

struct ledger {
  struct account *accounts[MAX_ACCOUNTS], *current;
  struct entry *entries;
  size_t num_entries, room;
};

static volatile unsigned told;

static struct account **find(struct ledger *l, const char *name) {
  for (int i = 0; i < MAX_ACCOUNTS; i++)
    if (l->accounts[i] && !strcmp(l->accounts[i]->name, name)) return &l->accounts[i];
  return NULL;
}

#ifdef NAME_FAULTS
static int is_open(struct ledger *l, const struct account *a) {
  for (int i = 0; i < MAX_ACCOUNTS; i++)
    if (l->accounts[i] == a) return 1;
  return 0;
}
#endif

static void open_account(struct ledger *l, const char *name) {
  int i = 0;
  if (!*name || find(l, name)) return;
  while (i < MAX_ACCOUNTS && l->accounts[i]) i++;
  if (i == MAX_ACCOUNTS || !(l->accounts[i] = calloc(1, sizeof(struct account)))) return;
  strncpy(l->accounts[i]->name, name, 7);
}

static void close_account(struct ledger *l, struct account **slot) {
  struct account *a = *slot;
  size_t kept = 0;
  if (a->num_under > 0) return;
  FAULT("parent", a->parent && !is_open(l, a->parent));
  if (a->parent) a->parent->num_under--;
  if (l->current == a && a->sum == 0) l->current = NULL; /* should be so whatever the sum */
  for (size_t i = 0; i + 1 < l->num_entries; i++) /* should look at the last entry, too */
    if (l->entries[i].account != a) l->entries[kept++] = l->entries[i];
  if (l->num_entries) l->entries[kept++] = l->entries[l->num_entries - 1];
  l->num_entries = kept;
  free(a);
  *slot = NULL;
}

static void note(struct ledger *l, struct account *a, unsigned amount) {
  if (l->num_entries == MAX_ENTRIES) return;
  if (l->num_entries == l->room) {
    size_t room = l->room ? 2 * l->room : FIRST_ROOM;
    struct entry *moved = malloc(room * sizeof *moved);
    if (!moved) return;
    if (l->room) memcpy(moved, l->entries, l->room * sizeof *moved);
    free(l->entries);
    l->entries = moved, l->room = room;
  }
  l->entries[l->num_entries++] = (struct entry){a, amount};
  a->sum += amount;
}

static void again(struct ledger *l, unsigned times) {
  struct entry *last = l->num_entries ? &l->entries[l->num_entries - 1] : NULL;
  for (unsigned i = 0; last && i < times && i < MAX_ENTRIES; i++) {
#ifdef NAME_FAULTS
    FAULT("again", last < l->entries || last >= l->entries + l->room);
    FAULT("undone", last >= l->entries && last < l->entries + l->room && !is_open(l, last->account));
#endif
    note(l, last->account, last->amount); /* the entries may have moved */
  }
}

static void undo(struct ledger *l) {
  struct entry *last = l->num_entries ? &l->entries[--l->num_entries] : NULL;
  if (!last) return;
  FAULT("undone", !is_open(l, last->account));
  last->account->sum -= last->amount;
}

static void put_under(struct ledger *l, struct account *a, struct account *parent) {
  (void)l;
  for (struct account *up = parent; up; up = up->parent) {
    FAULT("parent", !is_open(l, up));
    if (up == a) return;
  }
  if (a->parent) parent->num_under--; /* should be that of the parent until now */
  a->parent = parent;
  parent->num_under++;
}

static unsigned total(struct ledger *l, const struct account *a) {
  unsigned sum = 0;
  (void)l;
  for (; a; a = a->parent) {
    FAULT("parent", !is_open(l, a));
    sum += a->sum;
  }
  return sum;
}

static void obey(struct ledger *l, const char *word, const char *first, const char *second) {
  struct account **slot = find(l, first), **other = find(l, second);
  unsigned number = (unsigned)strtoul(slot ? second : first, NULL, 10);
  if (!strcmp(word, "open")) open_account(l, first);
  else if (!strcmp(word, "undo")) undo(l);
  else if (!strcmp(word, "again")) again(l, number);
  else if (!strcmp(word, "pay") && l->current) {
    FAULT("current", !is_open(l, l->current));
    note(l, l->current, number);
  } else if (!slot) return;
  else if (!strcmp(word, "close")) {
    close_account(l, slot);
  } else if (!strcmp(word, "add")) note(l, *slot, number);
  else if (!strcmp(word, "use")) l->current = *slot;
  else if (!strcmp(word, "under") && other) put_under(l, *slot, *other);
  else if (!strcmp(word, "total")) told += total(l, *slot);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct ledger l = {0};
  size_t at = 0;
  while (at < size) {
    char words[3][8] = {{0}};
    int word = 0, letter = 0;
    for (; at < size && data[at] != '\n'; at++) {
      if (data[at] == ' ') word++, letter = 0;
      else if (word < 3 && letter < 7) words[word][letter++] = (char)data[at];
    }
    at++;
    obey(&l, words[0], words[1], words[2]);
  }
  for (int i = 0; i < MAX_ACCOUNTS; i++) free(l.accounts[i]);
  free(l.entries);
  return 0;
}
