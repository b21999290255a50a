/*
** write.c - folders of the machine that a jail may write to. Where root starts it the
** jail is nobody's, so these become nobody's too: root can still do with them what it likes.
*/
#include <errno.h>
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#include "judge/jail/jail.h"

/* What has a second name may be somebody's elsewhere. */
static int give(const char *path, const struct stat *st, int kind, struct FTW *at) {
  (void)at;
  if (kind == FTW_NS || (kind == FTW_F && st->st_nlink > 1)) return 0;
  return lchown(path, CAWB_JAIL_NOBODY, CAWB_JAIL_NOBODY) == 0 || errno == EINVAL ? 0 : -1;
}

cawb_status cawb_jail_give(const cawb_jail *j, cawb_err *err) {
  if (geteuid() != 0) return CAWB_OK;
  for (size_t i = 0; i < j->nwritten; i++)
    if (nftw(j->written[i], give, 16, FTW_PHYS | FTW_MOUNT) != 0)
      return cawb_fail_errno(err, CAWB_ERR_IO, "jail: cannot give %s away", j->written[i]);
  return CAWB_OK;
}
