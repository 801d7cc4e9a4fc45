/* Models own the recipe they publish. */
#include "ropescope/encoding.h"

const char *const rs_pair_layout_words[RS_PAIR_LAYOUTS + 1] = {
    [RS_HALF_SPLIT] = "half_split", [RS_INTERLEAVED] = "interleaved"};
const char *const rs_id_scheme_words[RS_ID_SCHEMES + 1] = {[RS_IDS_QWEN2_VL] = "qwen2_vl",
                                                           [RS_IDS_HF] = "hf",
                                                           [RS_IDS_SPATIAL_RESET] = "spatial_reset",
                                                           [RS_IDS_VIDEOROPE] = "videorope",
                                                           [RS_IDS_V2PE] = "v2pe"};
const char *const rs_id_arithmetic_words[RS_ID_ARITHMETICS + 1] = {[RS_IDS_F32] = "f32", [RS_IDS_F64] = "f64"};

void rs_model_clear(rs_model *model) {
  rs_recipe_clear(&model->published);
  *model = (rs_model){0};
}
