/*
** seccomp.c - the system calls that a jail refuses. Looking into other
** processes, sockets, mounts, new namespaces, kernel keys, clocks and whatever else a
** kernel that computes on tensors never needs. A refused call fails; it does not kill, so
** that a library that tries one and can do without it still works.
*/
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "judge/jail/jail.h"

#if defined(__x86_64__)
#define THIS_ARCH AUDIT_ARCH_X86_64
enum { X32 = 0x40000000 };
#elif defined(__aarch64__)
#define THIS_ARCH AUDIT_ARCH_AARCH64
#else
#error "seccomp.c knows x86_64 and aarch64"
#endif

static const int refused[] = {
  SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_kcmp, SYS_perf_event_open,
  SYS_bpf, SYS_userfaultfd, SYS_add_key, SYS_request_key, SYS_keyctl,
  SYS_mount, SYS_umount2, SYS_pivot_root, SYS_chroot, SYS_setns, SYS_unshare,
  SYS_name_to_handle_at, SYS_open_by_handle_at, SYS_fanotify_init, SYS_init_module,
  SYS_finit_module, SYS_delete_module, SYS_kexec_load, SYS_reboot, SYS_swapon, SYS_swapoff,
  SYS_syslog, SYS_acct, SYS_quotactl, SYS_settimeofday, SYS_clock_settime, SYS_clock_adjtime,
  SYS_adjtimex, SYS_sethostname, SYS_setdomainname, SYS_vhangup, SYS_personality,
#ifdef SYS_ioperm
  SYS_ioperm, SYS_iopl,
#endif
#ifdef SYS_kexec_file_load
  SYS_kexec_file_load,
#endif
  438 /* pidfd_getfd */, 428 /* open_tree */, 429 /* move_mount */, 430 /* fsopen */,
  431 /* fsconfig */, 432 /* fsmount */, 433 /* fspick */, 442 /* mount_setattr */
};

static const int no_connecting[] = { SYS_connect };

static const int no_sockets[] = { SYS_socket, SYS_bind, SYS_listen, SYS_connect, SYS_accept,
                                  SYS_accept4 };

static const int not_there[] = { 435 /* clone3: its flags cannot be seen */,
                                 425, 426, 427 /* io_uring: calls without a call */ };

/* Without namespaces: what would outlive the process group, or reach others. */
static const int shared_world[] = { SYS_setsid, SYS_setpgid, SYS_shmget, SYS_shmat, SYS_msgget,
                                    SYS_semget };
static const int signals[] = { SYS_kill, SYS_tkill, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo,
                               424 /* pidfd_send_signal */ };

/* Without namespaces others can be named, the judge among them, and who has its user may change
** its limits, its priority, where it runs and where its memory lies: of oneself only. */
static const int of_others[] = { SYS_prlimit64, SYS_sched_setaffinity, SYS_sched_setscheduler,
                                 SYS_sched_setparam, SYS_sched_setattr, SYS_migrate_pages,
                                 SYS_move_pages };
static const int of_anyone[] = { SYS_setpriority, SYS_ioprio_set, SYS_mq_open,
                                 440 /* process_madvise */, 448 /* process_mrelease */ };

enum { NEW_NAMESPACES = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC |
                        CLONE_NEWUTS | CLONE_NEWCGROUP, MOST = 256 };

typedef struct program { struct sock_filter code[MOST]; unsigned short n; } program;

static void emit(program *p, unsigned short code, unsigned char jt, unsigned char jf,
                 unsigned int k) {
  if (p->n < MOST) p->code[p->n++] = (struct sock_filter){ code, jt, jf, k };
}

static void give(program *p, unsigned int result) { emit(p, BPF_RET | BPF_K, 0, 0, result); }

static void load(program *p, size_t offset) {
  emit(p, BPF_LD | BPF_W | BPF_ABS, 0, 0, (unsigned int)offset);
}

static void refuse(program *p, const int *calls, size_t n, unsigned int code) {
  for (size_t i = 0; i < n; i++) {
    emit(p, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, (unsigned int)calls[i]);
    give(p, SECCOMP_RET_ERRNO | code);
  }
}

#define REFUSE(p, list, code) refuse(p, list, sizeof list / sizeof *list, code)

/* Of sockets only those of this machine that talk to nobody before they are connected:
** with connect refused they can do nothing but wait for a process of the jail's own. */
static void refuse_most_sockets(program *p) {
  emit(p, BPF_JMP | BPF_JEQ | BPF_K, 0, 8, SYS_socket);
  load(p, offsetof(struct seccomp_data, args));
  emit(p, BPF_JMP | BPF_JEQ | BPF_K, 0, 5, AF_UNIX);
  load(p, offsetof(struct seccomp_data, args) + sizeof(__u64));
  emit(p, BPF_ALU | BPF_AND | BPF_K, 0, 0, 0xf /* the type, without flags */);
  emit(p, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, SOCK_STREAM);
  emit(p, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, SOCK_SEQPACKET);
  give(p, SECCOMP_RET_ALLOW);
  give(p, SECCOMP_RET_ERRNO | EACCES);
}

/* Where the first argument, a process or a thread, is not 0: oneself. */
static void refuse_of_others(program *p) {
  for (size_t i = 0; i < sizeof of_others / sizeof *of_others; i++) {
    emit(p, BPF_JMP | BPF_JEQ | BPF_K, 0, 4, (unsigned int)of_others[i]);
    load(p, offsetof(struct seccomp_data, args));
    emit(p, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, 0);
    give(p, SECCOMP_RET_ERRNO | EPERM);
    load(p, offsetof(struct seccomp_data, nr));
  }
}

/* Last: it loses the number of the call. */
static void refuse_clone(program *p) {
  emit(p, BPF_JMP | BPF_JEQ | BPF_K, 0, 3, SYS_clone);
  load(p, offsetof(struct seccomp_data, args));      /* the low half, on these machines */
  emit(p, BPF_JMP | BPF_JSET | BPF_K, 0, 1, NEW_NAMESPACES);
  give(p, SECCOMP_RET_ERRNO | EPERM);
}

static void write_program(program *p, const cawb_jail *j) {
  load(p, offsetof(struct seccomp_data, arch));
  emit(p, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, THIS_ARCH);
  give(p, SECCOMP_RET_KILL_PROCESS);
  load(p, offsetof(struct seccomp_data, nr));
#if defined(__x86_64__)
  emit(p, BPF_JMP | BPF_JGE | BPF_K, 0, 1, X32);
  give(p, SECCOMP_RET_KILL_PROCESS);
#endif
  REFUSE(p, refused, EPERM);
  if (j->listens) REFUSE(p, no_connecting, EACCES);
  else REFUSE(p, no_sockets, EACCES);
  REFUSE(p, not_there, ENOSYS);
  if (!j->namespaces) REFUSE(p, shared_world, EPERM);
  if (!j->namespaces) REFUSE(p, of_anyone, EPERM);
  if (!j->namespaces) refuse_of_others(p);
  if (!j->namespaces && cawb_jail_landlock_abi() < 6) REFUSE(p, signals, EPERM);
  if (j->listens) refuse_most_sockets(p);
  refuse_clone(p);
  give(p, SECCOMP_RET_ALLOW);
}

cawb_status cawb_jail_calls(const cawb_jail *j, cawb_err *err) {
  program p = { .n = 0 };
  write_program(&p, j);
  struct sock_fprog filter = { p.n, p.code };
  if (p.n == MOST) return cawb_fail(err, CAWB_ERR_INVALID, "jail: the filter is too long");
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0) != 0)
    return cawb_fail_errno(err, CAWB_ERR_UNSUPPORTED, "jail: seccomp");
  return CAWB_OK;
}
