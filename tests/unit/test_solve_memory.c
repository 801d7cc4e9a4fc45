/* Each allocation of a ranking fails in turn: it ends as out of memory, never as another answer. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "../fixtures/heap_ways.h"
#include "advice/advice.h"

static const char config[] =
    "{\"model_type\": \"llama\", \"hidden_size\": 32, \"num_attention_heads\": 4, \"max_position_embeddings\": 64}";

static const char rows[] =
    "model,group,head_dim,rotary_dim,rope_theta,train_length,model_recipe,task,recipe,length_tokens,loss_increase_nats,"
    "low_nats,high_nats,tuned_at\n"
    "a,a,8,8,10000,64,,x,unchanged,128,2,1,3,\na,a,8,8,10000,64,,x,\"{name: pi, scale: auto}\",128,1,,,\n"
    "b,b,8,8,10000,64,\"{name: pi, factor: 2}\",x,unchanged,128,3,1,inf,\n";

static char words[8192];

static rs_status rank(rs_err *err) {
  RS_HELD(rs_evidence) evidence = NULL;
  rs_ranking_in in = {.length = 160, .hf = "config.json", .hf_text = config};
  rs_ranking ranking;
  RS_TRY(rs_evidence_read(rows, strlen(rows), &evidence, err));
  in.evidence = evidence;
  size_t length = 0;
  rs_status status = rs_rank_settings(&in, &ranking, err);
  for (size_t i = 0; status == RS_OK && i < ranking.count; i++)
    length += (size_t)snprintf(words + length, sizeof words - length, "%s %.17g %.17g %s\n",
                               ranking.items[i].recipe.method->name, ranking.items[i].damage,
                               ranking.items[i].forecast.high, ranking.items[i].forecast.from);
  for (size_t i = 0; status == RS_OK && i < ranking.left_out_count; i++)
    length += (size_t)snprintf(words + length, sizeof words - length, "%s: %s\n", ranking.left_out[i].method,
                               ranking.left_out[i].why);
  if (status == RS_OK) rs_ranking_clear(&ranking);
  return status;
}

Test(solve_memory, each_failing_allocation__gives_the_same_ranking_or_none) {
  expect_same_or_none(rank, words);
}
