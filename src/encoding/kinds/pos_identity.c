/* Positions as they are. */
#include "encoding/kinds.h"

const rs_pos_kind rs_pos_identity = {
    .kind = {.name = "identity", .summary = "a token's position is its id", .reference = "RoFormer, arXiv:2104.09864"},
    .views = 1,
};
