/* GSL's errors, which end the program unless the process has another handler: GSL has none by thread or by call. The
 * handler is off from the first that asks to the last that is done, and the program's own again afterwards. */
#include "ropescope/math.h"

#include <gsl/gsl_errno.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static size_t users;                 /* between begin and end */
static gsl_error_handler_t *handler; /* of the program, while there are users */

void rs_gsl_errors_begin(void) {
  (void)pthread_mutex_lock(&lock);
  if (users++ == 0) handler = gsl_set_error_handler_off();
  (void)pthread_mutex_unlock(&lock);
}

void rs_gsl_errors_end(void) {
  (void)pthread_mutex_lock(&lock);
  if (--users == 0) (void)gsl_set_error_handler(handler);
  (void)pthread_mutex_unlock(&lock);
}
