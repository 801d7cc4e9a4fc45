/* pack.h: bytes within a page. */
#ifndef ROPESCOPE_REPORT_PACK_H
#define ROPESCOPE_REPORT_PACK_H

#include "base/base.h"

/* Appends `bytes` (length,) compressed by gzip (RFC 1952), as base64 (RFC 4648, section 4): a page has room for
 * letters alone. The same bytes give the same text. RS_MEMORY, RS_INTERNAL. */
rs_status report_pack(const char *bytes, size_t length, rs_text *out, rs_err *err);

#endif
