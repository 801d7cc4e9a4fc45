#include "base/base.h"

rs_status rs_team_gather(rs_team *team, rs_status status, void *data, const size_t *begins, rs_err *err) {
  if (team == NULL) return status;
  RS_ASSERT(team->member < team->members);
  if (team->worst == RS_OK) {
    team->calls++;
    team->worst = team->gather(team->context, status, data, begins);
  }
  if (status != RS_OK || team->worst == RS_OK) return status;
  if (team->worst == RS_STOPPED) return rs_fail(err, RS_STOPPED, "stopped");
  return rs_fail(err, team->worst, "another rank has failed (%s)", rs_status_name(team->worst));
}

rs_status rs_team_agree(rs_team *team, rs_status status, rs_err *err) {
  return rs_team_gather(team, status, NULL, NULL, err);
}
