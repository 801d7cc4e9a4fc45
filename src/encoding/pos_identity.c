/* Positions as they are. */
#include "kinds.h"

static rs_status fill(rs_encoding *encoding, rs_err *err) {
  (void)encoding;
  (void)err;
  return RS_OK;
}

const rs_pos_kind rs_pos_identity = {
    .kind = {.name = "identity",
             .summary = "a token's position is its id",
             .reference = "RoFormer, arXiv:2104.09864",
             .version = 1},
    .views = 1,
    .fill = fill,
};
