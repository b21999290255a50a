"""A `cawb look` for tests."""
from serving import LIMIT, Server


class Look(Server):
    def __init__(self, *words):
        self.start("look", *words, limit=5 * LIMIT)      # one for all tests of a file

    def item(self, key):
        """The state of one of the gallery's."""
        status, item = self.ask("POST", "/look/item", {"key": key})
        assert status == 200, item
        return item

    def look(self, state, depth="quick", page="a page"):
        """Status and answer."""
        kept = ("task", "source", "plan", "family", "defines", "options", "name")
        return self.ask("POST", "/look/judge", {"page": page, "depth": depth, "state": {k: state[k] for k in kept if k in state}})
