/*
** write.c - folders of the machine that a jail may write to. Where root starts it these become the
** jail's: nobody's, or root's again where it has to stay root and has lost the power over what is
** somebody else's. The root outside can still do with them what it likes.
*/
#include <errno.h>
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#include "judge/jail/jail.h"

static uid_t owner_of_all;                 /* nftw passes nothing on */

/* What has a second name may be somebody's elsewhere. */
static int give(const char *path, const struct stat *st, int kind, struct FTW *at) {
  (void)at;
  if (kind == FTW_NS || (kind == FTW_F && st->st_nlink > 1)) return 0;
  return lchown(path, owner_of_all, owner_of_all) == 0 || errno == EINVAL ? 0 : -1;
}

cawb_status cawb_jail_give(const cawb_jail *j, uid_t owner, cawb_err *err) {
  if (geteuid() != 0) return CAWB_OK;
  owner_of_all = owner;
  for (size_t i = 0; i < j->nwritten; i++)
    if (nftw(j->written[i], give, 16, FTW_PHYS | FTW_MOUNT) != 0)
      return cawb_fail_errno(err, CAWB_ERR_IO, "jail: cannot give %s away", j->written[i]);
  return CAWB_OK;
}
