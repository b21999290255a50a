class Native:
    pass
