/* sha256.c: the fingerprint of a file or text (FIPS 180-4, by nettle), by which a manifest names the config and the
 * lists that made its results, and a trained model its weights. */
#include <errno.h>
#include <fcntl.h>
#include <nettle/sha2.h>
#include <string.h>
#include <unistd.h>

#include "io_internal.h"

void rs_sha256_end(struct sha256_ctx *context, char out[65]) {
  static const char digits[] = "0123456789abcdef";
  uint8_t digest[SHA256_DIGEST_SIZE];
  sha256_digest(context, sizeof digest, digest);
  for (size_t i = 0; i < sizeof digest; i++) {
    out[2 * i] = digits[digest[i] >> 4];
    out[2 * i + 1] = digits[digest[i] & 15];
  }
  out[64] = '\0';
}

static void add_parts(struct sha256_ctx *context, const rs_bytes *parts, size_t count) {
  sha256_init(context);
  for (size_t i = 0; i < count; i++)
    if (parts[i].length > 0) sha256_update(context, parts[i].length, parts[i].data);
}

void rs_sha256_digest(const rs_bytes *parts, size_t count, uint8_t out[32]) {
  struct sha256_ctx context;
  add_parts(&context, parts, count);
  sha256_digest(&context, SHA256_DIGEST_SIZE, out);
}

void rs_sha256_parts(const rs_bytes *parts, size_t count, char out[65]) {
  struct sha256_ctx context;
  add_parts(&context, parts, count);
  rs_sha256_end(&context, out);
}

void rs_sha256_hex(const char *data, size_t length, char out[65]) {
  rs_sha256_parts(&(rs_bytes){data, length}, 1, out);
}

rs_status rs_sha256_file(const char *path, char out[65], rs_err *err) {
  uint8_t block[1 << 16];
  struct sha256_ctx context;
  ssize_t got = 1;
  int file = open(path, O_RDONLY | O_CLOEXEC);
  sha256_init(&context);
  while (file != -1 && got != 0) {
    got = read(file, block, sizeof block);
    if (got == -1 && errno != EINTR) break;
    if (got > 0) sha256_update(&context, (size_t)got, block);
  }
  rs_status status = file != -1 && got == 0 ? RS_OK : rs_fail_read(err, "%s: cannot read: %s", path, strerror(errno));
  if (file != -1) close(file);
  rs_sha256_end(&context, out);
  return status;
}
