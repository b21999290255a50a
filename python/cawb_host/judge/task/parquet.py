"""A Parquet file as JSON Lines on standard output: python3 parquet.py FILE."""
import json
import sys

COLUMNS = ("level", "problem_id", "id", "name", "ops", "data_source", "code")


def main(path):
    try:
        import pyarrow.parquet
    except ImportError:
        sys.exit("reading %s needs pyarrow: %s -m pip install pyarrow" % (path, sys.executable))
    try:
        file = pyarrow.parquet.ParquetFile(path)
    except (OSError, pyarrow.ArrowInvalid) as error:
        sys.exit("%s: %s" % (path, error))
    names = [name for name in COLUMNS if name in file.schema_arrow.names]
    if "code" not in names:
        sys.exit("%s: no column 'code', it has %s" % (path, ", ".join(file.schema_arrow.names)))
    for batch in file.iter_batches(columns=names):
        for row in batch.to_pylist():
            print(json.dumps({key: value for key, value in row.items() if value is not None}))


if __name__ == "__main__":
    main(sys.argv[1])
