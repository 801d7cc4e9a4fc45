/* What `ropescope compare` says of a dump beside a model whose layers turn in several ways. */
#include "compare.h"

#include <math.h>

void compare_put_kinds(const outcome *o, rs_text *text) {
  const rs_profile *profile = &o->sides[o->kinds.model].profile;
  if (o->kinds.count == 0) return;
  rs_text_printf(text, "%c beside the layers of %c:\n", "BA"[o->kinds.model], "AB"[o->kinds.model]);
  for (size_t i = 0; i < o->kinds.count; i++) {
    const rs_kind_match *match = &o->kinds.items[i];
    rs_text line = {0};
    rs_text_puts(text, "  layers ");
    rs_profile_write_layers(profile, match->kind, text);
    rs_text_printf(text, " (%s): ", profile->kinds[match->kind].name);
    compare_put_turning(&line, &match->difference);
    rs_text_printf(text, "%s\n", line.length > 2 ? rs_text_string(&line) + 2 : "equal");
    text->failed |= line.failed;
    rs_text_clear(&line);
  }
}

void compare_write_kinds(const outcome *o, rs_json *json) {
  const rs_profile *profile = &o->sides[o->kinds.model].profile;
  rs_json_array(json, "beside_layers");
  for (size_t i = 0; i < o->kinds.count; i++) {
    const rs_kind_match *match = &o->kinds.items[i];
    rs_json_object(json, NULL);
    rs_json_string(json, "kind", profile->kinds[match->kind].name);
    rs_json_list(json, "layers");
    for (size_t l = 0; profile->counted && l < profile->layer_count; l++)
      if (profile->layers[l] == match->kind) rs_json_number(json, NULL, (double)l);
    rs_json_end(json);
    rs_json_bool(json, "equal", match->difference.differs == 0);
    rs_json_number(json, "pairs_that_differ", (double)match->difference.count);
    rs_json_number(json, "largest_relative_difference", match->difference.count > 0 ? match->difference.largest : NAN);
    rs_json_end(json);
  }
  rs_json_end(json);
}
