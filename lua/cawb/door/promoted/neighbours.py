"""python3 neighbours.py TASK.py: the modules beside the task that it imports, and those that they import, one path a line, relative
to the task's folder. A name that Python finds without that folder is no neighbour: the task gets the other one too."""
import importlib.util
import modulefinder
import os
import sys

folder = os.path.dirname(os.path.abspath(sys.argv[1]))
sys.path = [p for p in sys.path[1:] if os.path.abspath(p or ".") != folder]
finder = modulefinder.ModuleFinder(path=[folder])
finder.run_script(sys.argv[1])
for name, module in sorted(finder.modules.items()):
    if name != "__main__" and module.__file__ and importlib.util.find_spec(name.split(".")[0]) is None:
        print(os.path.relpath(module.__file__, folder))
