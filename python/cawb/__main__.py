"""`python -m cawb ...` and the command `cawb` of an installed wheel: the program, with the same words."""
import os
import sys

from cawb.process import program


def main():
    path = program()
    os.execv(path, [path, *sys.argv[1:]])


if __name__ == "__main__":
    main()
