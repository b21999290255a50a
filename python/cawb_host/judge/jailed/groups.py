"""Control groups: one for each worker, which all that it starts belongs to and cannot leave.

What a group gives depends on the machine: a freezer, by which the judge decides when any of
its processes runs at all; the processor time of all of them together; bounds of memory (files
in memory included) and of processes for all of them together. Version 2 has the freezer and the
time without a controller; version 1 has each in a hierarchy of its own. Where this process may
not make groups, there are none, and `lacks` says what is therefore not held.
"""
import contextlib
import os
import time

from cawb_host.base.fault import Fault

V1 = ("freezer", "cpuacct", "memory", "pids")
LACKS = {"freezer": "processes are stopped by signals, and processor time spent while they should"
                    " stand still is a rejection",
         "memory": "memory is bounded for each process, not for all of them together",
         "pids": "processes are counted for each user, not for each candidate"}


def hierarchies():
    """{"": folder of ours in version 2, "memory": in version 1, ...}."""
    places, ours = {}, {}
    with contextlib.suppress(OSError):
        with open("/proc/self/mountinfo", encoding="utf-8") as file:
            for line in file:
                words, _, more = line.partition(" - ")
                root, point = words.split()[3:5]
                kind, _, options = more.split()[:3]
                if kind == "cgroup2":
                    places[""] = (root, point)
                elif kind == "cgroup":
                    for name in set(options.split(",")).intersection(V1):
                        places[name] = (root, point)
        with open("/proc/self/cgroup", encoding="utf-8") as file:
            for line in file:
                _, names, path = line.rstrip("\n").split(":", 2)
                for name in names.split(","):
                    ours[name] = path
    found = {name: within(root, point, ours[name]) for name, (root, point) in places.items() if name in ours}
    if "" in found:
        found[""] = able(places[""][1], found[""])
    return found


def able(point, folder):
    """Of ours and those above it in version 2 the nearest whose members' memory can be bounded:
    one with processes in it hands nothing on. Ours where there is none."""
    place = folder
    while place.startswith(point):
        with contextlib.suppress(OSError):
            if "memory" in get(place + "/cgroup.subtree_control").split() and os.access(place, os.W_OK):
                return place
        place = os.path.dirname(place)
    return folder


def within(root, point, path):
    """Where a group lies: of the hierarchy a part alone may be mounted."""
    rest = path[len(root):] if root != "/" and path.startswith(root) else path
    return (point + "/" + rest.strip("/")).rstrip("/")


def put(path, text):
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


def get(path):
    with open(path, encoding="ascii") as file:
        return file.read()


class Group:
    """`freezer`, `usage`: files for the judge's side, or absent; `has`: names of what is bound."""

    def __init__(self, name, limits):
        self.folders, self.has, self.files = {}, set(), {}
        found = hierarchies()
        two = self.make("", found, name)
        if two and os.path.exists(two + "/cgroup.freeze"):
            self.has.add("freezer")
            self.files = {"freezer": two + "/cgroup.freeze", "state": two + "/cgroup.events",
                          "usage": two + "/cpu.stat"}
        elif self.make("freezer", found, name):
            self.has.add("freezer")
            self.files = {"freezer": self.folders["freezer"] + "/freezer.state",
                          "state": self.folders["freezer"] + "/freezer.state"}
            if self.make("cpuacct", found, name):
                self.files["usage"] = self.folders["cpuacct"] + "/cpuacct.usage"
        self.bound("memory", found, name, limits.get("memory"),
                   ("memory.max", "memory.swap.max"), ("memory.limit_in_bytes", "memory.memsw.limit_in_bytes"))
        self.bound("pids", found, name, limits.get("processes"), ("pids.max",), ("pids.max",))

    def make(self, hierarchy, found, name):
        """A folder of that name in a hierarchy, or None."""
        if hierarchy not in found:
            return None
        folder = "%s/%s" % (found[hierarchy], name)
        try:
            os.mkdir(folder)
        except OSError:
            return None
        self.folders[hierarchy] = folder
        return folder

    def bound(self, what, found, name, most, two, one):
        if not most:
            return
        folder, files = self.folders.get(""), two
        if folder is None or not os.path.exists("%s/%s" % (folder, two[0])):
            folder, files = self.make(what, found, name), one
        if folder is None:
            return
        with contextlib.suppress(OSError):
            put("%s/%s" % (folder, files[0]), str(most))
            self.has.add(what)
            for more in files[1:]:              # swap, where it is counted
                with contextlib.suppress(OSError):
                    put("%s/%s" % (folder, more), "0" if files is two else str(most))

    def join(self):
        """The calling process, and all that it starts from here on."""
        for folder in self.folders.values():
            put(folder + "/cgroup.procs", "0")

    def lacks(self):
        return [LACKS[what] for what in LACKS if what not in self.has]

    def thaw(self):
        if "freezer" in self.files:
            with contextlib.suppress(OSError):
                put(self.files["freezer"], "THAWED" if "freezer" in self.folders else "0")

    def end(self):
        """Kill what is left in it, and remove it."""
        self.thaw()
        for folder in self.folders.values():
            deadline = time.monotonic() + 5
            while True:
                with contextlib.suppress(OSError):
                    put(folder + "/cgroup.kill", "1")
                try:
                    os.rmdir(folder)
                    break
                except OSError:
                    if time.monotonic() > deadline or not os.path.isdir(folder):
                        break
                    kill(folder)
                    time.sleep(0.002)
        self.folders = {}


def kill(folder):
    with contextlib.suppress(OSError):
        for word in get(folder + "/cgroup.procs").split():
            with contextlib.suppress(OSError):
                os.kill(int(word), 9)


def sweep():
    """Groups of jail hosts that are no more: who is killed cannot remove his own."""
    for folder in hierarchies().values():
        with contextlib.suppress(OSError):
            for name in os.listdir(folder):
                words = name.split("-")
                if words[0] == "cawb" and len(words) == 3 and not os.path.isdir("/proc/" + words[1]):
                    kill(folder + "/" + name)
                    for file, text in (("freezer.state", "THAWED"), ("cgroup.freeze", "0")):   # frozen ones cannot end
                        with contextlib.suppress(OSError):
                            put(folder + "/" + name + "/" + file, text)
                    with contextlib.suppress(OSError):
                        os.rmdir(folder + "/" + name)


usable = True               # until one was tried in vain


def attempt():
    """What a group of this machine lacks, tried with a process that joins one."""
    global usable           # pylint: disable=global-statement
    sweep()
    try:
        group = Group("cawb-%d-probe" % os.getpid(), {"memory": 1 << 30, "processes": 100})
    except OSError:
        usable = False
        return list(LACKS.values())
    try:
        pid = os.fork()
        if pid == 0:
            try:
                group.join()
                os._exit(0)
            finally:
                os._exit(1)
        usable = os.waitpid(pid, 0)[1] == 0
        return group.lacks() if usable else list(LACKS.values())
    finally:
        group.end()


def new(name, limits, wanted=True):
    """A group, or None where this machine has none that is of use."""
    if not wanted or not usable:
        return None
    try:
        group = Group(name, limits)
    except OSError as error:
        raise Fault("missing", "a control group cannot be made: %s" % error) from None
    return group
