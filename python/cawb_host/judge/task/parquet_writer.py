"""JSON Lines as a Parquet file: python3 parquet_writer.py FROM.jsonl TO.parquet COLUMN... in this
order; those that no row has are left out."""
import json
import os
import sys


def main(source, target, *columns):
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        sys.exit("writing %s needs pyarrow: %s -m pip install pyarrow" % (target, sys.executable))
    with open(source, encoding="utf-8") as file:
        rows = [json.loads(line) for line in file if line.strip()]
    names = [name for name in columns if any(name in row for row in rows)]
    table = pyarrow.table({name: [row.get(name) for row in rows] for name in names})
    pyarrow.parquet.write_table(table, target + ".new")
    os.replace(target + ".new", target)


if __name__ == "__main__":
    main(*sys.argv[1:])
