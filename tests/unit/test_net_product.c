/* Products of matrices and matrices turned over: every instruction set, floats and doubles, against plain loops. */
#include "../nets.h"

#include <math.h>
#include <stdlib.h>

/* Sums are taken in sections of the depth (product.c); sizes around them are tried on purpose. */
enum { SECTION = 256, TURNED_SECTION = 64 };

typedef struct sizes {
  size_t rows, columns, depth;
} sizes;

typedef struct matrices {
  grid a, b, c, before;
  rs_product product;
} matrices;

static grid stepped(const net_set *set, uint64_t *state, size_t rows, size_t columns, size_t step) {
  grid g = step > 0 ? grid_with_step(set, rows, columns, step) : grid_of(set, state, rows, columns);
  for (size_t r = 0; r < rows; r++)
    for (size_t c = 0; c < columns; c++) grid_put(&g, r, c, draw_real(state, -1, 1));
  return g;
}

/* b_step 0: any. Where nothing is added, c holds no numbers before. */
static matrices matrices_of(const net_set *set, uint64_t *state, sizes s, size_t b_step, bool turned, bool add) {
  matrices m = {.a = turned ? stepped(set, state, s.depth, s.rows, 0) : stepped(set, state, s.rows, s.depth, 0),
                .b = stepped(set, state, s.depth, s.columns, b_step),
                .c = add ? stepped(set, state, s.rows, s.columns, 0) : grid_of(set, state, s.rows, s.columns)};
  m.before = grid_copy(&m.c);
  m.product = (rs_product){.rows = s.rows,
                           .columns = s.columns,
                           .depth = s.depth,
                           .a = grid_start(&m.a),
                           .a_step = m.a.step,
                           .a_turned = turned,
                           .b = grid_start(&m.b),
                           .b_step = m.b.step,
                           .c = grid_start(&m.c),
                           .c_step = m.c.step,
                           .add = add};
  return m;
}

static double a_at(const matrices *m, size_t row, size_t k) {
  return m->product.a_turned ? grid_at(&m->a, k, row) : grid_at(&m->a, row, k);
}

/* The bound that stands at the kernel. */
static void check_elements(const net_set *set, const matrices *m) {
  for (size_t r = 0; r < m->product.rows; r++)
    for (size_t c = 0; c < m->product.columns; c++) {
      long double sum = m->product.add ? grid_at(&m->before, r, c) : 0, size = fabsl(sum);
      for (size_t k = 0; k < m->product.depth; k++) {
        long double term = (long double)a_at(m, r, k) * grid_at(&m->b, k, c);
        sum += term;
        size += fabsl(term);
      }
      near(set, grid_at(&m->c, r, c), sum, (m->product.depth + 2) * set->u * size, "product");
    }
}

static void check_product(const net_set *set, uint64_t *state, sizes s, size_t b_step, bool turned, bool add) {
  matrices m = matrices_of(set, state, s, b_step, turned, add);
  set->net->product(&m.product);
  check_elements(set, &m);
  GRIDS_END(&m.a, &m.b, &m.c, &m.before);
}

static void check_drawn_sizes(const net_set *set, uint64_t *state) {
  for (size_t i = 0; i < 200; i++) {
    sizes s = {draw_size(state, 1, 70), draw_size(state, 1, 70), draw_size(state, 1, 70)};
    check_product(set, state, s, 0, i % 2, i / 2 % 2);
  }
}

Test(net_product, sizes_from_1_to_70__is_the_sum) {
  with_every_net(check_drawn_sizes);
}

/* Every number of rows and columns up to two tiles of every set, at one depth. */
static void check_every_edge(const net_set *set, uint64_t *state) {
  for (size_t rows = 1; rows <= 17; rows++)
    for (size_t columns = 1; columns <= 66; columns += columns % 16 < 14 && columns > 18 ? 3 : 1)
      check_product(set, state, (sizes){rows, columns, 3}, 0, rows % 2, columns % 2);
}

Test(net_product, every_edge_of_a_tile__is_the_sum) {
  with_every_net(check_every_edge);
}

static void check_sections(const net_set *set, uint64_t *state) {
  static const size_t depths[] = {TURNED_SECTION - 1, TURNED_SECTION, TURNED_SECTION + 1, 2 * TURNED_SECTION, SECTION,
                                  SECTION + 1,        2 * SECTION + 3};
  for (size_t i = 0; i < RS_COUNT(depths); i++)
    for (size_t way = 0; way < 4; way++) check_product(set, state, (sizes){7, 37, depths[i]}, 0, way % 2, way / 2);
}

Test(net_product, depths_around_sections__is_the_sum) {
  with_every_net(check_sections);
}

/* Panels of b are copied for many rows, and sooner where its rows are 4096 bytes apart. */
static void check_copied_panels(const net_set *set, uint64_t *state) {
  for (size_t way = 0; way < 4; way++) {
    check_product(set, state, (sizes){90, 75, 70}, 0, way % 2, way / 2);
    check_product(set, state, (sizes){30, 75, 70}, 4096 / set->net->real_bytes, way % 2, way / 2);
  }
}

Test(net_product, many_rows_and_crowded_steps__is_the_sum) {
  with_every_net(check_copied_panels);
}

/* Rows are walked in blocks of 2^16 numbers of a. */
static void check_blocks(const net_set *set, uint64_t *state) {
  check_product(set, state, (sizes){270, 5, 260}, 0, false, false);
  check_product(set, state, (sizes){1100, 5, 70}, 0, true, false);
}

Test(net_product, more_rows_than_a_block__is_the_sum) {
  with_every_net(check_blocks);
}

/* b in panels gives the bits of b as it is, in sections, blocks and at the edge, and where panels are asked for ahead.
 */
static void check_panels(const net_set *set, uint64_t *state) {
  static const sizes all[] = {{1, 1, 1}, {9, 41, 20}, {20, 260, 256}, {270, 70, 300}, {30, 64, 64}, {5, 15, 0}};
  for (size_t i = 0; i < 2 * RS_COUNT(all); i++) {
    sizes s = all[i / 2];
    matrices m = matrices_of(set, state, s, 0, i % 2, i % 3 == 0);
    grid turned = grid_with_step(set, s.columns, s.depth, s.depth),
         panels = grid_of(set, state, 1, s.depth * s.columns);
    grid c = grid_copy(&m.c);
    for (size_t k = 0; k < s.depth; k++)
      for (size_t j = 0; j < s.columns; j++) grid_put(&turned, j, k, grid_at(&m.b, k, j));
    rs_product product = m.product;
    product.b = grid_start(&panels);
    product.b_panels = true;
    product.b_step = 0;
    product.c = grid_start(&c);
    product.c_step = c.step;
    set->net->panels(grid_start(&turned), s.depth, s.columns, grid_start(&panels));
    set->net->product(&m.product);
    set->net->product(&product);
    for (size_t r = 0; r < s.rows; r++)
      for (size_t j = 0; j < s.columns; j++)
        cr_assert(grid_at(&c, r, j) == grid_at(&m.c, r, j), "%s: (%zu, %zu) of %zu x %zu", set->isa, r, j, s.rows,
                  s.columns);
    GRIDS_END(&m.a, &m.b, &m.c, &m.before, &turned, &panels, &c);
  }
}

Test(net_product, panels__same_bits) {
  with_every_net(check_panels);
}

/* The upper bits of a float, and a number of binary16, that the test's numbers are rounded to by cutting. */
static uint64_t stored_bits(rs_format format, double *number) {
  float single = (float)*number;
  uint32_t word;
  uint64_t bits;
  if (format == RS_F16) {
    int exponent;
    double fraction = frexp(fabs(*number), &exponent); /* 1/2 to 1, or 0 */
    double unit = ldexp(1, exponent < -13 ? -24 : exponent - 11), whole = floor(fabs(*number) / unit);
    *number = copysign(whole * unit, *number);
    bits = fraction == 0    ? 0
           : exponent < -13 ? (uint64_t)whole
                            : ((uint64_t)(exponent + 14) << 10) + (uint64_t)whole - 1024;
    return bits | (signbit(*number) ? 0x8000 : 0);
  }
  memcpy(&word, &single, sizeof word);
  if (format == RS_BF16) word &= 0xffff0000u;
  memcpy(&single, &word, sizeof single);
  if (format != RS_F64) *number = (double)single;
  memcpy(&bits, number, sizeof bits);
  return format == RS_F64 ? bits : format == RS_F32 ? word : word >> 16;
}

/* b as files have it, by inputs or by outputs, from an odd address, with other numbers between: the bits of b. */
static void check_stored(const net_set *set, uint64_t *state) {
  static const sizes all[] = {{1, 1, 1}, {9, 41, 20}, {20, 260, 256}, {70, 140, 300}, {5, 15, 0}, {3, 33, 65}};
  for (size_t i = 0; i < 2 * RS_FORMATS * RS_COUNT(all); i++) {
    sizes s = all[i / (2 * RS_FORMATS)];
    rs_format format = (rs_format)(i / 2 % RS_FORMATS);
    bool by_outputs = i % 2;
    size_t bytes = rs_format_bytes(format), step = (by_outputs ? s.depth : s.columns) + 3,
           alternate = by_outputs ? 1 : 2;
    matrices m = matrices_of(set, state, s, 0, s.rows % 2, i % 3 == 0);
    unsigned char *file = malloc(1 + bytes * alternate * step * (s.depth + s.columns));
    rs_stored_matrix stored = {file + 1, format, by_outputs ? 1 : alternate * step, by_outputs ? step : alternate};
    for (size_t k = 0; k < s.depth; k++)
      for (size_t j = 0; j < s.columns; j++) {
        double number = ldexp(grid_at(&m.b, k, j), -(int)draw_size(state, 0, format == RS_F16 ? 18 : 3));
        uint64_t bits = stored_bits(format, &number);
        memcpy(file + 1 + (k * stored.input_step + j * stored.output_step) * bytes, &bits, bytes);
        grid_put(&m.b, k, j, number);
      }
    grid c = grid_copy(&m.c);
    rs_product product = m.product;
    product.b = NULL;
    product.b_stored = &stored;
    product.c = grid_start(&c);
    product.c_step = c.step;
    set->net->product(&m.product);
    set->net->product(&product);
    for (size_t r = 0; r < s.rows; r++)
      for (size_t j = 0; j < s.columns; j++)
        cr_assert(grid_at(&c, r, j) == grid_at(&m.c, r, j), "%s, %s: (%zu, %zu) of %zu x %zu", set->isa,
                  rs_format_words[format], r, j, s.rows, s.columns);
    GRIDS_END(&m.a, &m.b, &m.c, &m.before, &c);
    free(file);
  }
}

Test(net_product, what_files_have__same_bits) {
  with_every_net(check_stored);
}

/* No depth: nothing to add. No rows or no columns: nothing to write. */
static void check_nothing(const net_set *set, uint64_t *state) {
  for (size_t way = 0; way < 4; way++) {
    check_product(set, state, (sizes){5, 41, 0}, 0, way % 2, way / 2);
    check_product(set, state, (sizes){0, 41, 3}, 0, way % 2, way / 2);
    check_product(set, state, (sizes){5, 0, 3}, 0, way % 2, way / 2);
  }
}

Test(net_product, nothing_to_sum__is_zero_or_what_was_there) {
  with_every_net(check_nothing);
}

/* An element has the same bits whatever is computed beside it: one row and some columns against the whole. */
static void check_alone(const net_set *set, uint64_t *state) {
  for (size_t i = 0; i < 40; i++) {
    sizes s = {draw_size(state, 1, 80), draw_size(state, 1, 70), draw_size(state, 1, 300)};
    matrices m = matrices_of(set, state, s, 0, i % 2, false);
    set->net->product(&m.product);
    size_t row = draw_size(state, 0, s.rows - 1), column = draw_size(state, 0, s.columns - 1);
    grid c = grid_of(set, state, 1, s.columns - column);
    rs_product part = m.product;
    part.rows = 1;
    part.columns -= column;
    part.a = (const char *)part.a + row * (part.a_turned ? 1 : part.a_step) * m.a.bytes;
    part.b = (const char *)part.b + column * m.b.bytes;
    part.c = grid_start(&c);
    part.c_step = c.step;
    set->net->product(&part);
    for (size_t j = 0; j < part.columns; j++)
      cr_assert(grid_at(&c, 0, j) == grid_at(&m.c, row, column + j), "%s: (%zu, %zu) of %zu x %zu", set->isa, row,
                column + j, s.rows, s.columns);
    GRIDS_END(&m.a, &m.b, &m.c, &m.before, &c);
  }
}

Test(net_product, part_of_a_product__same_bits) {
  with_every_net(check_alone);
}

/* ---- generic ----------------------------------------------------------------------------------------------------- */

/* One element as generic defines it: rounded after each product and each sum. */
static float defined_f32(const matrices *m, size_t row, size_t column) {
  float total = m->product.add ? (float)grid_at(&m->before, row, column) : 0;
  size_t section = m->product.a_turned ? TURNED_SECTION : SECTION;
  for (size_t begin = 0; begin < m->product.depth; begin += section) {
    volatile float sum = 0;
    for (size_t k = begin; k < begin + section && k < m->product.depth; k++) {
      volatile float term = (float)a_at(m, row, k) * (float)grid_at(&m->b, k, column);
      sum += term;
    }
    total = begin == 0 && !m->product.add ? sum : sum + total;
  }
  return total;
}

Test(net_product, generic__bits_of_its_definition) {
  uint64_t state = 4;
  cr_assert_eq(rs_kernels_use("generic", NULL), RS_OK);
  net_set set = net_set_of("generic", 32);
  for (size_t i = 0; i < 40; i++) {
    sizes s = {draw_size(&state, 1, 20), draw_size(&state, 1, 40), draw_size(&state, 1, 600)};
    matrices m = matrices_of(&set, &state, s, 0, i % 2, i / 2 % 2);
    set.net->product(&m.product);
    for (size_t r = 0; r < s.rows; r++)
      for (size_t c = 0; c < s.columns; c++)
        cr_assert((float)grid_at(&m.c, r, c) == defined_f32(&m, r, c), "(%zu, %zu) of depth %zu", r, c, s.depth);
    GRIDS_END(&m.a, &m.b, &m.c, &m.before);
  }
  cr_assert_eq(rs_kernels_use("auto", NULL), RS_OK);
}

/* ---- turned over ------------------------------------------------------------------------------------------------- */

static void check_turned(const net_set *set, uint64_t *state) {
  for (size_t i = 0; i < 200; i++) {
    size_t rows = draw_size(state, 0, 50), columns = draw_size(state, 0, 50);
    grid x = grid_drawn(set, state, rows, columns, -1, 1), turned = grid_of(set, state, columns, rows);
    set->net->turn_over(grid_start(&x), x.step, rows, columns, grid_start(&turned), turned.step);
    for (size_t r = 0; r < rows; r++)
      for (size_t c = 0; c < columns; c++)
        cr_assert(grid_at(&turned, c, r) == grid_at(&x, r, c), "%s: (%zu, %zu) of %zu x %zu", set->isa, r, c, rows,
                  columns);
    GRIDS_END(&x, &turned);
  }
}

Test(net_product, turned_over__rows_are_columns) {
  with_every_net(check_turned);
}
