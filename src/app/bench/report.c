/* Rows of measurements as CSV. */
#include "bench.h"

#include <math.h>

/* What is measured differs from time to time in its third digit: more than five say nothing. */
static double five_digits(double value) {
  if (!isfinite(value) || value == 0) return value;
  double places = 4 - floor(log10(fabs(value)));
  double unit = pow(10, fabs(places));
  return places < 0 ? round(value / unit) * unit : round(value * unit) / unit;
}

static void put_row(const rs_bench_row *row, rs_text *csv) {
  rs_csv_text(csv, row->job->name);
  rs_csv_number(csv, (double)row->threads);
  rs_csv_text(csv, row->isa);
  rs_csv_number(csv, five_digits(row->seconds));
  rs_csv_number(csv, five_digits(row->seconds_best));
  rs_csv_number(csv, five_digits(row->rate));
  rs_csv_text(csv, rs_limit_unit(row->job->limit));
  rs_csv_text(csv, rs_limit_name(row->job->limit));
  rs_csv_number(csv, five_digits(row->ceiling_rate));
  rs_csv_number(csv, five_digits(row->fraction));
  rs_csv_number(csv, five_digits(row->fraction_best));
  rs_csv_number(csv, five_digits(row->nanoseconds));
  rs_csv_text(csv, row->job->item);
  rs_csv_number(csv, five_digits(row->others));
  rs_csv_number(csv, (double)row->rounds);
  rs_csv_number(csv, (double)row->contended);
  rs_csv_end_row(csv);
}

void rs_bench_write(const rs_bench_row *rows, size_t count, rs_text *csv) {
  rs_text_puts(csv, "job,threads,isa,seconds,seconds_best,rate,rate_unit,ceiling,ceiling_rate,fraction,fraction_best,"
                    "nanoseconds_per_item,item,others_cpus,rounds,rounds_contended\n");
  for (size_t i = 0; i < count; i++) put_row(&rows[i], csv);
}
