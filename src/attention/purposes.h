/* What each random stream of this layer is for: two purposes never share a number. Private. */
#ifndef ROPESCOPE_ATTENTION_PURPOSES_H
#define ROPESCOPE_ATTENTION_PURPOSES_H

enum {
  RS_PURPOSE_KEYS = 1,
  RS_PURPOSE_QUERIES,
  RS_PURPOSE_NEEDLES,
  RS_PURPOSE_QUERY_POSITIONS,
  RS_PURPOSE_FIELD_WAVES,
  RS_PURPOSE_FIELD_PHASES,
  RS_PURPOSE_PROJECTION
};

#endif
