/* What a file calls each of our weights. */
#include "architectures.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The front of a name that ends in ".weight" or ".bias", which is renamed. */
static size_t front_of(const char *name) {
  const char *end = strrchr(name, '.');
  bool kept = end != NULL && (strcmp(end, ".weight") == 0 || strcmp(end, ".bias") == 0);
  return kept ? (size_t)(end - name) : strlen(name);
}

/* How the table of names has ours: "mlp.experts.2.up_proj" is mlp.experts.#.up_proj. */
static void generalise(const char *name, size_t front, rs_hf_source *s, char *general, size_t room) {
  int digits = 0;
  if (sscanf(name, "mlp.experts.%ld.%n", &s->number, &digits) == 1 && digits > 0)
    snprintf(general, room, "mlp.experts.#.%.*s", (int)front - digits, name + digits);
  else
    snprintf(general, room, "%.*s", (int)front, name);
}

/* "front" of the name, its "end", and how `renamed`, which may be NULL, has it. */
static void put_name(const char *front, const char *middle, const char *name, size_t length, const rs_tensor *tensor,
                     rs_hf_source *s) {
  const char *theirs = s->renamed != NULL ? s->renamed->theirs : NULL, *mark = theirs ? strchr(theirs, '#') : NULL;
  const char *end = name + length;
  if (theirs == NULL)
    snprintf(s->name, sizeof s->name, "%s%s%s", front, middle, name);
  else if (rs_hf_of_experts(s->renamed->rows))
    snprintf(s->name, sizeof s->name, "%s%s%s%s", front, middle, theirs, tensor->vector ? "_bias" : "");
  else if (mark != NULL && s->renamed->rows != RS_ROWS_HEADS)
    snprintf(s->name, sizeof s->name, "%s%s%.*s%ld%s%s", front, middle, (int)(mark - theirs), theirs, s->number,
             mark + 1, end);
  else
    snprintf(s->name, sizeof s->name, "%s%s%s%s", front, middle, theirs, end);
}

/* The first name of the table that the file has; else the first of all. */
static void find_name(const rs_hf_loader *l, const rs_hf_name *names, const char *front, const char *middle,
                      const char *name, const rs_tensor *tensor, rs_hf_source *s) {
  char general[112];
  size_t length = front_of(name);
  rs_hf_source first = {0};
  generalise(name, length, s, general, sizeof general);
  for (; names->ours != NULL; names++) {
    if (strcmp(names->ours, general) != 0) continue;
    s->renamed = names;
    put_name(front, middle, name, length, tensor, s);
    if (rs_safetensors_find(l->file, s->name) != NULL) return;
    if (first.renamed == NULL) first = *s;
  }
  if (first.renamed != NULL)
    *s = first;
  else
    put_name(front, middle, name, length, tensor, s);
}

/* The first block that has a recipe, and whether it is the encoder's. */
static void find_recipe(const rs_hf_checkpoint *checkpoint, size_t recipe, rs_hf_source *s) {
  const rs_stack *stacks[] = {&checkpoint->shape.encoder, &checkpoint->shape.decoder};
  for (size_t k = 0; k < RS_COUNT(stacks); k++)
    for (size_t i = 0; i < stacks[k]->count; i++)
      if (stacks[k]->blocks[i].recipe == recipe) {
        s->encoder = k == 0;
        s->number = (long)i;
        return;
      }
}

/* Prefix, layers, block, part, end. */
rs_hf_source rs_hf_source_of(const rs_hf_loader *l, const rs_tensor *tensor) {
  static const char ours[] = "model.", layers[] = "layers.", positions[] = "positions.", encoder[] = "encoder.";
  const rs_architecture *row = l->checkpoint->architecture;
  const char *name = tensor->name, *prefix = "";
  size_t groups = l->checkpoint->layer_groups;
  rs_hf_source s = {.block = -1};
  char middle[64] = "";
  if (strncmp(name, ours, strlen(ours)) == 0) {
    name += strlen(ours);
    prefix = l->prefix;
  }
  if (strncmp(name, encoder, strlen(encoder)) == 0) {
    s.encoder = true;
    name += strlen(encoder);
  }
  if (strncmp(name, layers, strlen(layers)) == 0) {
    const char *theirs = s.encoder ? row->encoder_layers : row->layers;
    char *end;
    s.block = strtol(name + strlen(layers), &end, 10);
    name = end + 1;
    long place = (long)((size_t)s.block * groups / l->checkpoint->shape.decoder.count);
    snprintf(middle, sizeof middle, "%s.%ld.%s", theirs != NULL ? theirs : "layers", groups > 0 ? place : s.block,
             row->layer_part != NULL ? row->layer_part : "");
  }
  if (strncmp(name, positions, strlen(positions)) == 0) {
    find_recipe(l->checkpoint, tensor->recipe, &s);
    name = strchr(name + strlen(positions), '.') + 1;
  }
  find_name(l, s.encoder ? row->encoder_names : row->names, prefix, middle, name, tensor, &s);
  return s;
}

static bool fits(const rs_hf_loader *l, const char *prefix) {
  rs_hf_loader tried = *l;
  tried.prefix = prefix;
  rs_hf_source s = rs_hf_source_of(&tried, &l->transformer->tensors[0]);
  return rs_safetensors_find(l->file, s.name) != NULL;
}

const char *rs_hf_prefix_of(const rs_hf_loader *l) {
  static const char *const usual[RS_HF_PREFIXES] = {"model.", ""};
  const rs_architecture *row = l->checkpoint->architecture;
  const char *const *prefixes = row->prefixes[0] != NULL ? row->prefixes : usual;
  for (size_t i = 0; i < RS_HF_PREFIXES && prefixes[i] != NULL; i++)
    if (fits(l, prefixes[i])) return prefixes[i];
  return fits(l, "") ? "" : prefixes[0];
}
