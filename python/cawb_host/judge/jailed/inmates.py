"""The jailed workers of a jail host: started, and ended with all that they started."""
import ctypes
import errno
import fcntl
import os
import signal
import socket
import time

from cawb_host.judge.jailed import confine, groups
from cawb_host.base.fault import Fault

OUTPUT = 1 << 20   # bytes kept of what one prints
SHOWN = 2000       # and of these told
ENDED = "ended by the judge"


LEFT = {errno.EAGAIN: "processes", errno.ENOMEM: "memory", errno.EMFILE: "descriptors", errno.ENFILE: "descriptors",
        errno.ENOSPC: "disk"}


def scarce(error):
    """What the machine has none left of, for a process that could not be started; None where that was not why."""
    what = LEFT.get(getattr(error, "errno", None))
    return what and Fault("scarce", "the machine has no %s left for its process (%s)" % (what, error.strerror))


class Inmate:
    def __init__(self, level, limits, gpu, group):
        self.level, self.pid, self.group = level, 0, group
        self.folder = confine.private_folder(level)
        self.description = confine.describe(level, limits, self.folder, gpu)
        self.output = os.memfd_create("output", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.ftruncate(self.output, OUTPUT)
        fcntl.fcntl(self.output, 1033, 1 | 2 | 4)  # F_ADD_SEALS: it neither grows nor shrinks

    def printed(self):
        end = min(os.lseek(self.output, 0, os.SEEK_CUR), OUTPUT)
        start = max(0, end - SHOWN)
        return os.pread(self.output, end - start, start).decode(errors="replace").strip()

    def close(self):
        if self.group:
            self.group.end()
        os.close(self.output)
        confine.remove(self.folder)


class Inmates:
    def __init__(self, confinement):
        self.confinement, self.all, self.count = confinement, {}, 0

    def spawn(self, request, watcher, pack=None):
        """A worker; what is built for it already comes in the descriptor `pack`."""
        ours, theirs = socket.socketpair()
        given = [theirs.fileno()] + ([] if pack is None else [pack])
        try:
            number, inmate = self.start(request, given, lambda worker, enter: worker.main(
                3, enter, request.get("threads", 0), watcher, None if pack is None else 4))
        except OSError:
            ours.close()
            raise
        finally:
            theirs.close()
            if pack is not None:
                os.close(pack)
        return {"id": number, "pid": inmate.pid, "group": inmate.group.files if inmate.group else {}}, [ours.detach()]

    def build(self, request, pack):
        """What came of one that builds into `pack`, which has `seconds` for it."""
        number, _ = self.start(request, [pack], lambda worker, enter: worker.build(3, enter, request))
        return self.end(number, request["seconds"])

    def start(self, request, given, run):
        """A process in a jail that does run(worker, enter), with the descriptors `given` from 3 on."""
        level, limits = request.get("jail", "namespaces"), request.get("limits", {})
        self.count += 1
        number = self.count
        group = groups.new("cawb-%d-%d" % (os.getpid(), number), limits, request.get("groups", True))
        inmate = Inmate(level, limits, request.get("gpu", False), group)
        try:
            inmate.pid = os.fork()
        except OSError:
            inmate.close()
            raise
        if inmate.pid == 0:
            self.become(inmate, given, run)
        self.all[number] = inmate
        return number, inmate

    def become(self, inmate, given, run):
        """In the new process: never returns."""
        try:
            if inmate.group:
                inmate.group.join()
            arrange(inmate.output, given)
            confine.set_environment(inmate.folder)
            from cawb_host.judge.jailed import worker  # pylint: disable=import-outside-toplevel
            run(worker, lambda: self.confinement.enter(inmate.level, inmate.description))
        finally:
            os._exit(1)

    def end(self, number, patience=0.0):
        """{"how": it ended, "printed": text}, once nothing of it is left. One that is
        about to end by itself has `patience` seconds for it."""
        inmate = self.all.pop(number, None)
        if inmate is None:
            raise Fault("invalid", "there is no worker %s" % number)
        if inmate.group:
            inmate.group.thaw()
        how, printed = finish(inmate, patience), inmate.printed()
        inmate.close()
        return {"how": how, "printed": printed}

    def end_all(self):
        for number in list(self.all):
            self.end(number)


def arrange(output, given):
    """Descriptors 0 to 2, `given` from 3 on, and no other; it dies with the jail host."""
    os.setpgid(0, 0)
    ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)  # PR_SET_PDEATHSIG
    null = os.open(os.devnull, os.O_RDONLY)
    high = [fcntl.fcntl(fd, fcntl.F_DUPFD, 100) for fd in (null, output, output, *given)]
    for place, fd in enumerate(high):
        os.dup2(fd, place, inheritable=place < 3)
    os.closerange(len(high), 4096)


def finish(inmate, patience):
    """End it, if it has not ended, and everything below it; what its end was like."""
    status = wait_for(inmate.pid, patience)
    alive = status is None
    if alive and inmate.level == "namespaces":
        os.kill(inmate.pid, signal.SIGTERM)  # its guard takes the jail with it
        if wait_for(inmate.pid, 2.0) is None:  # ... unless it was stopped before it listened
            os.kill(inmate.pid, signal.SIGKILL)
            os.waitpid(inmate.pid, 0)
    elif alive:
        os.killpg(inmate.pid, signal.SIGKILL)
        os.waitpid(inmate.pid, 0)
    sweep(inmate.pid)
    return ENDED if alive else tell(status)


def wait_for(pid, patience):
    """Its status, or None where it goes on for so many seconds."""
    deadline = time.monotonic() + patience
    while True:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return status
        if time.monotonic() >= deadline:
            return None
        time.sleep(0.001)


def sweep(group):
    """Whoever is left of a process group, orphans included."""
    while True:
        try:
            os.killpg(group, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            return
        try:
            os.waitpid(-group, 0)
        except ChildProcessError:
            return


def tell(status):
    code = os.waitstatus_to_exitcode(status)
    if code > 128:
        code = 128 - code                    # what its guard passed on
    if code < 0:
        try:
            return "killed by signal %d (%s)" % (-code, signal.Signals(-code).name)
        except ValueError:
            return "killed by signal %d" % -code
    return "ended with status %d" % code
