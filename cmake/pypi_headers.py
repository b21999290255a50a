"""Print the include folders of this Python's nvidia-* packages that hold the
headers named on the command line, ';' between; nothing unless all are there."""
import glob
import os
import sys


def folder_of(header):
    for base in sys.path:
        for folder in sorted(glob.glob(os.path.join(base, "nvidia", "*", "include"))):
            if os.path.exists(os.path.join(folder, header)):
                return folder
    return None


folders = [folder_of(header) for header in sys.argv[1:]]
if all(folders):
    print(";".join(dict.fromkeys(folders)))
