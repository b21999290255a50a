"""native: launches packages on a GPU."""


def library():
    return None


class Native:
    pass
