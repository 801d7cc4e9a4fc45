/* The lists of entries that a config has: how each is called, and how names in it are looked up. Private to the config
 * layer. */
#ifndef ROPESCOPE_CONFIG_ITEM_TYPES_H
#define ROPESCOPE_CONFIG_ITEM_TYPES_H

#include "config_internal.h"

struct rs_item_type {
  const char *key, *what;
  /* False: unknown name. Methods may be among those beside the built-in ones. */
  bool (*init)(const rs_method_list *beside, const char *name, rs_variant *variant, rs_err *err);
  size_t (*names)(const char **names, size_t room);
};

extern const rs_item_type rs_method_items, rs_source_items, rs_metric_items, rs_task_items;

#endif
