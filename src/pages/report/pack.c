/* pack.c: gzip by zlib, base64 by hand. */
#include "report.h"

#include <limits.h>
#include <stdlib.h>
#include <zlib.h>

enum { GZIP = 16 + MAX_WBITS, MEMORY = 8 };

static void put_base64(const unsigned char *bytes, size_t length, rs_text *out) {
  static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (size_t i = 0; i < length; i += 3) {
    size_t rest = length - i;
    unsigned group = (unsigned)bytes[i] << 16;
    if (rest > 1) group |= (unsigned)bytes[i + 1] << 8;
    if (rest > 2) group |= bytes[i + 2];
    const char four[4] = {letters[group >> 18], letters[group >> 12 & 63], rest > 1 ? letters[group >> 6 & 63] : '=',
                          rest > 2 ? letters[group & 63] : '='};
    rs_text_add(out, four, 4);
  }
}

rs_status report_pack(const char *bytes, size_t length, rs_text *out, rs_err *err) {
  z_stream stream = {0};
  if (length > UINT_MAX / 2) return rs_fail(err, RS_INTERNAL, "too many bytes for a page");
  if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, GZIP, MEMORY, Z_DEFAULT_STRATEGY) != Z_OK)
    return rs_fail(err, RS_MEMORY, "out of memory for the compression of a page");
  size_t room = deflateBound(&stream, (uLong)length);
  unsigned char *packed = rs_alloc(room, 1, err);
  rs_status status = packed != NULL ? RS_OK : RS_MEMORY;
  if (status == RS_OK) {
    stream.next_in = (unsigned char *)(uintptr_t)bytes; /* zlib does not write there */
    stream.avail_in = (unsigned)length;
    stream.next_out = packed;
    stream.avail_out = (unsigned)room;
    if (deflate(&stream, Z_FINISH) != Z_STREAM_END) status = rs_fail(err, RS_INTERNAL, "zlib did not end");
  }
  if (status == RS_OK) put_base64(packed, room - stream.avail_out, out);
  (void)deflateEnd(&stream);
  free(packed);
  return status;
}
