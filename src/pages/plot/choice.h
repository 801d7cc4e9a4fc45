/* Choice: which pictures a folder has, and which series each of them shows. */
#ifndef ROPESCOPE_PAGES_PLOT_CHOICE_H
#define ROPESCOPE_PAGES_PLOT_CHOICE_H

#include "pages/pages.h"

#include "data.h"
#include "paper.h"

/* ---- family: sources that differ in one number, which a summary is drawn over ------------------------------------ */

typedef struct rs_plot_families {
  rs_arena memory;
  rs_plot_family *items; /* owned */
  size_t count, capacity;
} rs_plot_families;

/* The families of at least two sources in a summary; a source is in one at most. Release with rs_plot_families_clear,
 * after a failure too. */
rs_status rs_plot_families_read(const rs_plot_data *data, const rs_plot_file *file, rs_plot_families *families,
                                rs_err *err);
void rs_plot_families_clear(rs_plot_families *families);
bool rs_plot_in_family(const rs_plot_families *families, size_t source);

/* Makes the measure a map of the model's cells: x is the length, y the family's parameter; or, where these have one
 * length alone, one row over the parameter, and `*strips` is true. */
rs_status rs_plot_family_places(const rs_plot_family *family, size_t model, rs_plot_measure *measure, bool *strips,
                                rs_err *err);

/* ---- sweep: checkpoints that differ in one number, over which a summary is drawn at one length ------------------- */

/* The first number that at least three checkpoints of a line differ in, where the lines of `data` are checkpoints and
 * `file` is their summary. RS_MEMORY. */
rs_status rs_plot_sweep_read(const rs_plot_data *data, const rs_plot_file *file, rs_plot_sweep *sweep, rs_err *err);
/* The parameter's name within its checkpoint: "tune.steps". */
const char *rs_plot_sweep_words(const rs_plot_sweep *sweep);
void rs_plot_sweep_clear(rs_plot_sweep *sweep);

/* ---- content: the numbers of one picture, in the form in which it shows them ------------------------------------- */

typedef enum rs_plot_form {
  RS_PLOT_LINES,
  RS_PLOT_DOTS,  /* one row a method, where all have values at one place alone; or one row a category */
  RS_PLOT_HEAT,  /* over two numbers */
  RS_PLOT_STRIPS /* colours over one number, one strip a method */
} rs_plot_form;

/* Whether it shows a map, and not series. */
static inline bool rs_plot_is_map(rs_plot_form form) {
  return form >= RS_PLOT_HEAT;
}

/* Zero-initialise; release with rs_plot_content_clear, after a failure too. */
typedef struct rs_plot_content {
  rs_plot_form form;
  rs_plot_set set; /* of lines and dots */
  rs_plot_map map; /* of the other two */
} rs_plot_content;

/* Reads what `choice` shows of `measure`; of a family, `measure` gets its places. */
rs_status rs_plot_content_read(rs_plot_measure *measure, const rs_plot_choice *choice, rs_plot_content *content,
                               rs_err *err);
void rs_plot_content_clear(rs_plot_content *content);

/* ---- list: the pictures that a folder's results give, by name, before any is drawn ------------------------------- */

typedef struct rs_plot_item {
  const rs_plot_file *file;     /* borrowed */
  const rs_plot_column *column; /* borrowed */
  rs_plot_choice choice;
  bool plain;       /* it says nothing */
  const char *name; /* of its files, without an ending; no other has it */
} rs_plot_item;

/* Zero-initialise; release with rs_plot_list_clear, after a failure too. */
typedef struct rs_plot_list {
  rs_arena memory;     /* of the names */
  rs_plot_item *items; /* those of one column stand together. Owned. */
  size_t count, capacity;
  rs_plot_families families; /* that the items' choices borrow */
  rs_plot_sweep sweep;       /* likewise */
} rs_plot_list;

#define RS_PLOT_EVERY_LENGTH (-1.0)

/* Lists the pictures of all values, curves at `length` tokens (0: at the longest that has data, picture by picture;
 * RS_PLOT_EVERY_LENGTH: one picture for each length, the shortest first).
 * Notes say what has no picture, and why. RS_MEMORY. */
rs_status rs_plot_list_read(const rs_plot_data *data, double length, rs_plot_list *list, rs_plot_report *report,
                            rs_err *err);

/* Leaves the items that options->only means; where it names none, those that say something, or, with options->all,
 * each. RS_INPUT: a name that means no picture. */
rs_status rs_plot_list_filter(rs_plot_list *list, const rs_plot_options *options, rs_plot_report *report, rs_err *err);
void rs_plot_list_clear(rs_plot_list *list);

/* ---- methods: how each method looks and where it stands, the same in every picture of every folder --------------- */

/* Puts the methods of the data in their order: as in the table of choice_look.c, what belongs to a method (as "yarn
 * factor=4" does) behind it, by name with numbers as numbers; other names last. */
rs_status rs_plot_methods_sort(rs_plot_data *data, rs_err *err);

/* The order of two names of methods (char *const *), for qsort. */
int rs_plot_methods_order(const void *left, const void *right);

enum { RS_PLOT_COLOURS = 16, RS_PLOT_ROUNDS = 4 };

/* The style of a look. */
rs_plot_style rs_plot_style_of(size_t look);

/* Fills `styles` (methods->count). A method of the table has its own look; any other name has that which its letters
 * choose, or, where another method of the list has that colour, the next that is free. */
void rs_plot_methods_style(const rs_plot_names *methods, rs_plot_style *styles);

#endif
