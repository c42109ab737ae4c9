/* The first byte chooses what is done with the rest: a name is made into a query, or a reply of one
   of eight kinds is read. */
#include <netdb.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <netinet/in.h>

#include "ares.h"

static void make_query(const unsigned char *data, int size) {
  char *name = malloc((size_t)size + 1);
  unsigned char *query = NULL;
  int length = 0;
  if (!name) return;
  memcpy(name, data, (size_t)size);
  name[size] = 0;
  ares_create_query(name, 1, 1, 1, 1, &query, &length, 0);
  free(query);
  free(name);
}

static void read_hosts(int is_6, const unsigned char *data, int size) {
  struct hostent *host = NULL;
  struct ares_addrttl ttl[4];
  struct ares_addr6ttl ttl6[4];
  int count = 4;
  int status = is_6 ? ares_parse_aaaa_reply(data, size, &host, ttl6, &count)
                    : ares_parse_a_reply(data, size, &host, ttl, &count);
  if (status == ARES_SUCCESS && host) ares_free_hostent(host);
}

static void read_names(int is_pointer, const unsigned char *data, int size) {
  struct hostent *host = NULL;
  unsigned char address[4] = {127, 0, 0, 1};
  int status = is_pointer ? ares_parse_ptr_reply(data, size, address, 4, AF_INET, &host)
                          : ares_parse_ns_reply(data, size, &host);
  if (status == ARES_SUCCESS && host) ares_free_hostent(host);
}

#define READ(kind)                                                   \
  do {                                                               \
    struct ares_##kind##_reply *reply = NULL;                        \
    int status = ares_parse_##kind##_reply(data, size, &reply);      \
    if (status == ARES_SUCCESS && reply) ares_free_data(reply);      \
  } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *given, size_t length) {
  if (length < 1 || length > 1024) return 0;
  int size = (int)length - 1;
  unsigned char *data = malloc(size ? (size_t)size : 1); /* exactly as long as the reply */
  if (!data) return 0;
  memcpy(data, given + 1, (size_t)size);
  switch (given[0] % 10) {
    case 0: make_query(data, size); break;
    case 1: read_hosts(0, data, size); break;
    case 2: read_hosts(1, data, size); break;
    case 3: read_names(0, data, size); break;
    case 4: read_names(1, data, size); break;
    case 5: READ(mx); break;
    case 6: READ(srv); break;
    case 7: READ(txt); break;
    case 8: READ(soa); break;
    case 9: READ(naptr); break;
  }
  free(data);
  return 0;
}
