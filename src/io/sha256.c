/* sha256.c: the fingerprint of a file or text (FIPS 180-4, by nettle), by which a manifest names the config and the
 * lists that made its results. */
#include <nettle/sha2.h>

#include "ropescope/io.h"

void rs_sha256_hex(const char *data, size_t length, char out[65]) {
  static const char digits[] = "0123456789abcdef";
  struct sha256_ctx context;
  uint8_t digest[SHA256_DIGEST_SIZE];
  sha256_init(&context);
  sha256_update(&context, length, (const uint8_t *)data);
  sha256_digest(&context, sizeof digest, digest);
  for (size_t i = 0; i < sizeof digest; i++) {
    out[2 * i] = digits[digest[i] >> 4];
    out[2 * i + 1] = digits[digest[i] & 15];
  }
  out[64] = '\0';
}
