/* plot_depths.h: columns and names of results over a second key, and the colour that a share has. */
#ifndef ROPESCOPE_TESTS_PLOT_DEPTHS_H
#define ROPESCOPE_TESTS_PLOT_DEPTHS_H

#include "../../src/pages/plot/paper.h"
#include "plot_svg.h"

#include <math.h>

/* As the fixture's keys, and the depth of a needle. */
#define DEPTH_KEYS KEYS ",{\"name\":\"depth\",\"role\":\"key\",\"unit\":\"1\",\"summary\":\"where\"}"
#define SHARE ",{\"name\":\"share\",\"role\":\"value\",\"unit\":\"1\",\"summary\":\"how <often>\"}"
#define DEPTHS "{\"name\":\"demo\",\"files\":[{\"file\":\"summary.csv\",\"columns\":[" DEPTH_KEYS SHARE "]}]}"
#define DEPTHS_HEADER "cell,model,method,length_tokens,scale,source,seed,heads,depth,share\n"

/* In the order in which pictures show them. */
UNUSED static const char *const methods[] = {"rope",       "yarn",  "yarn of a name that is too long for its panel",
                                             "rerope",     "alibi", "t5",
                                             "kerple_log", "fire",  "sandwich",
                                             "learned",    "zeta",  "zeta 2"};

/* The colour of a share where those from `low` to `high` are shown. */
UNUSED static uint32_t colour_of(double share, double low, double high) {
  return rs_plot_level_colour((size_t)lround((share - low) / (high - low) * (RS_PLOT_LEVELS - 1)));
}

#endif
