/* style.c: how the lines look. Colours alone do not do: some readers cannot tell them apart, and paper is grey. So each
 * method has a colour, a marker and a dash of its own. */
#include "paper.h"

#include <math.h>

#define TAU 6.283185307179586

/* Okabe and Ito, "Color Universal Design" (2008), but for their yellow, which is lost on white paper, with the indigo
 * of Paul Tol's "muted" scheme in its place, and grey. The other seven were chosen one by one, each the furthest from
 * all before it: any two differ by more than 26 (CIE76). Methods that share a plot and are mixed up by some eyes still
 * differ in marker and dash. */
static const uint32_t colours[RS_PLOT_COLOURS] = {0x000000, 0x0072B2, 0xD55E00, 0x009E73, 0xCC79A7, 0xE69F00,
                                                  0x56B4E9, 0x332288, 0x808080, 0x73C000, 0x661100, 0x777700,
                                                  0xEE3377, 0xA07040, 0x8F3FD0, 0x882255};

/* In pixels; made by eye for lines of RS_PLOT_LINE_WIDTH. */
static const struct {
  double dash[4];
  size_t count;
} dashes[] = {{{0}, 0}, {{8, 3}, 2}, {{3, 2.5}, 2}, {{9, 3, 2.5, 3}, 4}};

rs_plot_style rs_plot_style_of(size_t look) {
  enum { MARKERS = 8 };
  size_t colour = look % RS_PLOT_COLOURS, round = look / RS_PLOT_COLOURS % RS_PLOT_ROUNDS;
  size_t half = colour / MARKERS, dash = (colour + half + round) % RS_COUNT(dashes);
  rs_plot_style style = {
      .colour = colours[colour], .marker = (colour + 3 * round) % MARKERS, .hollow = (half + round) % 2 == 1};
  for (size_t i = 0; i < 4; i++) style.dash[i] = dashes[dash].dash[i];
  style.dashes = dashes[dash].count;
  return style;
}

/* ---- maps -------------------------------------------------------------------------------------------------------- */

#define CIE_DARK 16.0, 18.0, -40.0 /* L*, a*, b*: navy */
#define CIE_LIGHT 92.0, -8.0, 50.0 /* pale yellow; still darker than paper */
#define CIE_BULGE 15.0             /* a* of the middle below the straight line: a hint of green */

/* CIE XYZ over the white point from the lightness function's value (CIE 15:2004, eq. 8.3 to 8.11 turned round) above
 * 6 / 29, where all colours of the way are. */
static double unfold(double f) {
  return f * f * f;
}

/* A linear share of light as a byte (IEC 61966-2-1, sRGB). */
static uint32_t encode(double light) {
  double inside = fmin(fmax(light, 0), 1);
  double value = inside <= 0.0031308 ? 12.92 * inside : 1.055 * pow(inside, 1 / 2.4) - 0.055;
  return (uint32_t)lround(255 * value);
}

/* CIELAB under D65 to sRGB, with the matrix of IEC 61966-2-1. */
static uint32_t from_lab(double lightness, double a, double b) {
  double fy = (lightness + 16) / 116;
  double x = 0.95047 * unfold(fy + a / 500), y = unfold(fy), z = 1.08883 * unfold(fy - b / 200);
  return encode(3.2406 * x - 1.5372 * y - 0.4986 * z) << 16 | encode(-0.9689 * x + 1.8758 * y + 0.0415 * z) << 8 |
         encode(0.0557 * x - 0.2040 * y + 1.0570 * z);
}

/* A way through CIELAB on which lightness grows evenly, so that it is read the same in grey, and which goes from blue
 * to yellow, the axis that protan and deutan eyes keep; steps of colour (CIE76) differ by less than a quarter. */
uint32_t rs_plot_level_colour(size_t level) {
  static const double dark[] = {CIE_DARK}, light[] = {CIE_LIGHT};
  double t = (double)level / (RS_PLOT_LEVELS - 1), lab[3];
  for (size_t i = 0; i < 3; i++) lab[i] = dark[i] + t * (light[i] - dark[i]);
  return from_lab(lab[0], lab[1] - CIE_BULGE * 4 * t * (1 - t), lab[2]);
}

/* ---- markers ----------------------------------------------------------------------------------------------------- */

/* A star-shaped polygon: `count` corners at the radii outer, inner, outer, ..., the first at `turn` (1 is full). */
static size_t ring(size_t count, double outer, double inner, double turn, rs_plot_xy *corners) {
  for (size_t i = 0; i < count; i++) {
    double angle = TAU * ((double)i / (double)count + turn), radius = i % 2 == 0 ? outer : inner;
    corners[i] = (rs_plot_xy){radius * sin(angle), -radius * cos(angle)};
  }
  return count;
}

/* A plus sign of arms `half` wide from the middle, turned. */
static size_t cross(double radius, double turn, rs_plot_xy *corners) {
  static const signed char path[12][2] = {{-1, -2}, {1, -2}, {1, -1}, {2, -1}, {2, 1},   {1, 1},
                                          {1, 2},   {-1, 2}, {-1, 1}, {-2, 1}, {-2, -1}, {-1, -1}};
  double half = radius * 0.36, cosine = cos(TAU * turn), sine = sin(TAU * turn);
  for (size_t i = 0; i < 12; i++) {
    double x = path[i][0] == 2 || path[i][0] == -2 ? path[i][0] / 2.0 * radius : path[i][0] * half;
    double y = path[i][1] == 2 || path[i][1] == -2 ? path[i][1] / 2.0 * radius : path[i][1] * half;
    corners[i] = (rs_plot_xy){x * cosine - y * sine, x * sine + y * cosine};
  }
  return 12;
}

/* The factors make the markers look equally large. */
size_t rs_plot_marker_corners(size_t marker, double radius, rs_plot_xy corners[RS_PLOT_CORNERS]) {
  switch (marker) {
  case 1: return ring(4, radius * 1.25, radius * 1.25, 0.125, corners); /* square */
  case 2: return ring(3, radius * 1.35, radius * 1.35, 0, corners);     /* triangle, point up */
  case 3: return ring(4, radius * 1.4, radius * 1.4, 0, corners);       /* diamond */
  case 4: return ring(3, radius * 1.35, radius * 1.35, 0.5, corners);   /* triangle, point down */
  case 5: return cross(radius * 1.25, 0, corners);                      /* plus */
  case 6: return cross(radius * 1.35, 0.125, corners);                  /* cross */
  case 7: return ring(10, radius * 1.5, radius * 0.65, 0, corners);     /* star */
  default: return 0;                                                    /* circle */
  }
}
