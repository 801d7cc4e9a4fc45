/* The table of the loops of networks. */
#include "net.h"

extern const rs_net_kernel RS_OF_REAL(rs_net);
const rs_net_kernel RS_OF_REAL(rs_net) = {
    .real_bytes = sizeof(real),
    .product = NET(product),
    .panels = NET(panels),
    .widen = NET(widen),
    .turn_over = NET(turn_over),
    .turn_rows = NET(turn_rows),
    .norm = NET(norm),
    .norm_back = NET(norm_back),
    .curve = NET(curve),
    .curve_back = NET(curve_back),
    .soften = NET(soften),
    .soften_back = NET(soften_back),
    .scale_rows = NET(scale_rows),
    .cap_rows = NET(cap_rows),
    .cross_entropy = NET(cross_entropy),
    .add = NET(add),
    .squares = NET(squares),
    .adam = NET(adam),
};
