#include "engine.h"

size_t rs_job_views(const rs_attention_job *job) {
  return job->mask.kind == RS_CROSS ? 1 : job->encoding->views;
}

bool rs_job_has_shares(const rs_attention_job *job) {
  return job->local > 0 || job->top_count > 0;
}

bool rs_job_is_exact(const rs_attention_job *job) {
  return job->soft_cap != 0 || rs_job_has_shares(job);
}

bool rs_job_sees(const rs_attention_job *job, size_t query, size_t key) {
  rs_range seen[2];
  size_t ranges = rs_mask_ranges(&job->mask, job->encoding->length, query, seen);
  for (size_t r = 0; r < ranges; r++)
    if (key >= seen[r].begin && key < seen[r].end) return true;
  return false;
}

double rs_job_pairs(const rs_attention_job *job, size_t first, size_t count) {
  double pairs = 0;
  for (size_t i = first; i < first + count; i++) {
    rs_range seen[2];
    size_t ranges = rs_mask_ranges(&job->mask, job->encoding->length, job->queries[i], seen);
    for (size_t r = 0; r < ranges; r++) pairs += (double)(seen[r].end - seen[r].begin);
  }
  return pairs;
}
