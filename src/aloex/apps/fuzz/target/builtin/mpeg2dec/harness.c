/* Decode an MPEG-1 or MPEG-2 video stream. Pictures of more than a million pixels are refused: they
   take long and show nothing that smaller ones do not. */
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>

#include "mpeg2.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  mpeg2_accel(0); /* plain C on every machine */
  mpeg2dec_t *decoder = mpeg2_init();
  const mpeg2_info_t *info;
  int fed = 0;
  if (!decoder) return 0;
  info = mpeg2_info(decoder);
  for (;;) {
    mpeg2_state_t state = mpeg2_parse(decoder);
    if (state == STATE_BUFFER) {
      if (fed++) break;
      mpeg2_buffer(decoder, (uint8_t *)data, (uint8_t *)data + size);
    } else if (state == STATE_SEQUENCE || state == STATE_SEQUENCE_MODIFIED) {
      if ((uint64_t)info->sequence->width * info->sequence->height > 1000000) break;
    }
  }
  mpeg2_close(decoder);
  return 0;
}
