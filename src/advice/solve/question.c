/* What each question needs, and what it has no use for. */
#include "advice/advice.h"

enum {
  LENGTH = RS_ASKS_LENGTH,
  BASE = RS_ASKS_BASE,
  GEOMETRY = RS_ASKS_GEOMETRY,
  MODEL = RS_ASKS_MODEL,
  METHOD = RS_ASKS_METHOD,
  QUANTITIES = RS_SOLVE_LENGTH + 1
};

/* What each question needs, and what it takes beside. */
static const struct {
  int needs, takes;
} questions[QUANTITIES][RS_CRITERIA] = {
    [RS_SOLVE_BASE] = {{LENGTH | GEOMETRY, 0}, {LENGTH | MODEL, 0}, {LENGTH | MODEL, 0}, {LENGTH | MODEL, 0}},
    [RS_SOLVE_FACTOR] = {{LENGTH | MODEL | METHOD, 0},
                         {LENGTH | MODEL | METHOD, 0},
                         {LENGTH | MODEL | METHOD, 0},
                         {BASE | MODEL, 0}},
    [RS_SOLVE_LENGTH] = {{GEOMETRY, BASE | METHOD}, {MODEL, BASE | METHOD}, {MODEL, BASE | METHOD}, {BASE | MODEL, 0}},
};

int rs_question_has(const rs_question *question) {
  bool model = question->preset != NULL || question->hf != NULL;
  return (question->length > 0 ? LENGTH : 0) | (question->base > 0 ? BASE : 0) |
         (question->head_dim > 0 ? GEOMETRY : 0) | (model ? MODEL : 0) | (question->method != NULL ? METHOD : 0);
}

bool rs_question_lacks(const rs_question *question, rs_question_part *part, bool *missing) {
  static const rs_question_part parts[] = {RS_ASKS_LENGTH, RS_ASKS_BASE, RS_ASKS_GEOMETRY, RS_ASKS_MODEL,
                                           RS_ASKS_METHOD};
  int needs = questions[question->sought][question->criterion].needs,
      taken = needs | questions[question->sought][question->criterion].takes, has = rs_question_has(question);
  if ((taken & GEOMETRY) != 0) taken |= MODEL;
  *missing = true;
  for (size_t i = 0; i < RS_COUNT(parts); i++) {
    *part = parts[i];
    bool there = (has & (int)*part) != 0 || (*part == RS_ASKS_GEOMETRY && (has & MODEL) != 0);
    if ((needs & (int)*part) != 0 && !there) return true;
  }
  *missing = false;
  for (size_t i = 0; i < RS_COUNT(parts); i++) {
    *part = parts[i];
    if ((has & ~taken & (int)*part) != 0) return true;
  }
  return false;
}
