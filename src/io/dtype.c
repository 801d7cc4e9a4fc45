/* dtype.c: types of numbers in files of tensors. */
#include "tensors.h"

const char *const rs_dtype_words[RS_DTYPES + 1] = {
    [RS_DTYPE_BOOL] = "BOOL",
    [RS_DTYPE_F4] = "F4",
    [RS_DTYPE_F6_E2M3] = "F6_E2M3",
    [RS_DTYPE_F6_E3M2] = "F6_E3M2",
    [RS_DTYPE_U8] = "U8",
    [RS_DTYPE_I8] = "I8",
    [RS_DTYPE_F8_E5M2] = "F8_E5M2",
    [RS_DTYPE_F8_E4M3] = "F8_E4M3",
    [RS_DTYPE_F8_E8M0] = "F8_E8M0",
    [RS_DTYPE_F8_E4M3FNUZ] = "F8_E4M3FNUZ",
    [RS_DTYPE_F8_E5M2FNUZ] = "F8_E5M2FNUZ",
    [RS_DTYPE_I16] = "I16",
    [RS_DTYPE_U16] = "U16",
    [RS_DTYPE_F16] = "F16",
    [RS_DTYPE_BF16] = "BF16",
    [RS_DTYPE_I32] = "I32",
    [RS_DTYPE_U32] = "U32",
    [RS_DTYPE_F32] = "F32",
    [RS_DTYPE_C64] = "C64",
    [RS_DTYPE_F64] = "F64",
    [RS_DTYPE_I64] = "I64",
    [RS_DTYPE_U64] = "U64",
    [RS_DTYPE_Q4_0] = "Q4_0",
    [RS_DTYPE_Q4_1] = "Q4_1",
    [RS_DTYPE_Q5_0] = "Q5_0",
    [RS_DTYPE_Q5_1] = "Q5_1",
    [RS_DTYPE_Q8_0] = "Q8_0",
    [RS_DTYPE_Q2_K] = "Q2_K",
    [RS_DTYPE_Q3_K] = "Q3_K",
    [RS_DTYPE_Q4_K] = "Q4_K",
    [RS_DTYPE_Q5_K] = "Q5_K",
    [RS_DTYPE_Q6_K] = "Q6_K",
    [RS_DTYPE_IQ2_XXS] = "IQ2_XXS",
    [RS_DTYPE_IQ2_XS] = "IQ2_XS",
    [RS_DTYPE_IQ3_XXS] = "IQ3_XXS",
    [RS_DTYPE_IQ1_S] = "IQ1_S",
    [RS_DTYPE_IQ4_NL] = "IQ4_NL",
    [RS_DTYPE_IQ3_S] = "IQ3_S",
    [RS_DTYPE_IQ2_S] = "IQ2_S",
    [RS_DTYPE_IQ4_XS] = "IQ4_XS",
    [RS_DTYPE_IQ1_M] = "IQ1_M",
    [RS_DTYPE_TQ1_0] = "TQ1_0",
    [RS_DTYPE_TQ2_0] = "TQ2_0",
    [RS_DTYPE_MXFP4] = "MXFP4",
    [RS_DTYPE_NVFP4] = "NVFP4",
    [RS_DTYPE_Q1_0] = "Q1_0",
    [RS_DTYPE_Q2_0] = "Q2_0",
};

/* Those of GGUF alone are from ggml-common.h of ggml. */
static const rs_number_block blocks[RS_DTYPES] = {
    [RS_DTYPE_BOOL] = {1, 1},        [RS_DTYPE_F4] = {2, 1},          [RS_DTYPE_F6_E2M3] = {4, 3},
    [RS_DTYPE_F6_E3M2] = {4, 3},     [RS_DTYPE_U8] = {1, 1},          [RS_DTYPE_I8] = {1, 1},
    [RS_DTYPE_F8_E5M2] = {1, 1},     [RS_DTYPE_F8_E4M3] = {1, 1},     [RS_DTYPE_F8_E8M0] = {1, 1},
    [RS_DTYPE_F8_E4M3FNUZ] = {1, 1}, [RS_DTYPE_F8_E5M2FNUZ] = {1, 1}, [RS_DTYPE_I16] = {1, 2},
    [RS_DTYPE_U16] = {1, 2},         [RS_DTYPE_F16] = {1, 2},         [RS_DTYPE_BF16] = {1, 2},
    [RS_DTYPE_I32] = {1, 4},         [RS_DTYPE_U32] = {1, 4},         [RS_DTYPE_F32] = {1, 4},
    [RS_DTYPE_C64] = {1, 8},         [RS_DTYPE_F64] = {1, 8},         [RS_DTYPE_I64] = {1, 8},
    [RS_DTYPE_U64] = {1, 8},         [RS_DTYPE_Q4_0] = {32, 18},      [RS_DTYPE_Q4_1] = {32, 20},
    [RS_DTYPE_Q5_0] = {32, 22},      [RS_DTYPE_Q5_1] = {32, 24},      [RS_DTYPE_Q8_0] = {32, 34},
    [RS_DTYPE_Q2_K] = {256, 84},     [RS_DTYPE_Q3_K] = {256, 110},    [RS_DTYPE_Q4_K] = {256, 144},
    [RS_DTYPE_Q5_K] = {256, 176},    [RS_DTYPE_Q6_K] = {256, 210},    [RS_DTYPE_IQ2_XXS] = {256, 66},
    [RS_DTYPE_IQ2_XS] = {256, 74},   [RS_DTYPE_IQ3_XXS] = {256, 98},  [RS_DTYPE_IQ1_S] = {256, 50},
    [RS_DTYPE_IQ4_NL] = {32, 18},    [RS_DTYPE_IQ3_S] = {256, 110},   [RS_DTYPE_IQ2_S] = {256, 82},
    [RS_DTYPE_IQ4_XS] = {256, 136},  [RS_DTYPE_IQ1_M] = {256, 56},    [RS_DTYPE_TQ1_0] = {256, 54},
    [RS_DTYPE_TQ2_0] = {256, 66},    [RS_DTYPE_MXFP4] = {32, 17},     [RS_DTYPE_NVFP4] = {64, 36},
    [RS_DTYPE_Q1_0] = {128, 18},     [RS_DTYPE_Q2_0] = {64, 18},
};

rs_number_block rs_dtype_block(rs_dtype dtype) {
  return blocks[dtype];
}

bool rs_tensor_size(rs_dtype dtype, const size_t *shape, size_t rank, size_t *count, size_t *bytes) {
  rs_number_block block = blocks[dtype];
  *count = 1;
  for (size_t i = 0; i < rank; i++) {
    if (shape[i] > 0 && *count > SIZE_MAX / shape[i]) return false;
    *count *= shape[i];
  }
  if (*count / block.numbers > SIZE_MAX / block.bytes || *count % block.numbers != 0) return false;
  *bytes = *count / block.numbers * block.bytes;
  return true;
}

bool rs_dtype_is_read(rs_dtype dtype) {
  return dtype == RS_DTYPE_F64 || dtype == RS_DTYPE_F32 || dtype == RS_DTYPE_BF16 || dtype == RS_DTYPE_F16 ||
         (dtype >= RS_DTYPE_Q4_0 && dtype <= RS_DTYPE_Q6_K);
}
