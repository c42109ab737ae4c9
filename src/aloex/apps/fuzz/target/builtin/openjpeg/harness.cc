// Both of OpenJPEG's harnesses in one: the first bytes tell a code stream from a file.
#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "openjpeg.h"

#define LLVMFuzzerInitialize initialize_j2k
#define LLVMFuzzerTestOneInput decode_j2k
namespace j2k {
#include "opj_decompress_fuzzer_J2K.cpp"
}
#undef LLVMFuzzerInitialize
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerInitialize initialize_jp2
#define LLVMFuzzerTestOneInput decode_jp2
namespace jp2 {
#include "opj_decompress_fuzzer_JP2.cpp"
}
#undef LLVMFuzzerInitialize
#undef LLVMFuzzerTestOneInput

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  bool is_stream = size >= 2 && data[0] == 0xff && data[1] == 0x4f;
  return is_stream ? j2k::decode_j2k(data, size) : jp2::decode_jp2(data, size);
}
