"""wheel.py TREE CLIENT VERSION OUT: a wheel of the installed tree and the Python client: OUT/cawb-VERSION-...whl. pip needs
nothing else to install it; the program needs glibc 2.36, and a Python with PyTorch for its tasks."""
import base64
import hashlib
import os
import sys
import zipfile

TAG = "py3-none-manylinux_2_36_x86_64"
DATE = (1980, 1, 1, 0, 0, 0)            # the same tree makes the same wheel


def files_below(folder, prefix):
    for at, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        for name in sorted(names):
            path = os.path.join(at, name)
            yield path, prefix + os.path.relpath(path, folder).replace(os.sep, "/")


def add(wheel, record, name, data, mode):
    entry = zipfile.ZipInfo(name, DATE)
    entry.external_attr = (0o100000 | mode) << 16
    entry.compress_type = zipfile.ZIP_DEFLATED
    wheel.writestr(entry, data)
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    record.append("%s,sha256=%s,%d" % (name, digest, len(data)))


def add_folder(wheel, record, folder, prefix):
    for path, name in files_below(folder, prefix):
        with open(path, "rb") as file:
            add(wheel, record, name, file.read(), 0o755 if os.access(path, os.X_OK) else 0o644)


def about(version):
    return {
        "METADATA": "Metadata-Version: 2.1\nName: cawb\nVersion: %s\nSummary: An environment that judges and improves GPU kernels\n"
                    "License: MIT\nRequires-Python: >=3.10\n" % version,
        "WHEEL": "Wheel-Version: 1.0\nGenerator: cawb\nRoot-Is-Purelib: false\nTag: %s\n" % TAG,
        "entry_points.txt": "[console_scripts]\ncawb = cawb.__main__:main\n[torch_dynamo_backends]\ncawb = cawb.backend:backend\n"
                            "[pytest11]\ncawb = cawb.pytest_plugin\n",
    }


def main(tree, client, version, out):
    path, record = os.path.join(out, "cawb-%s-%s.whl" % (version, TAG)), []
    info = "cawb-%s.dist-info/" % version
    with zipfile.ZipFile(path, "w") as wheel:
        add_folder(wheel, record, client, "cawb/")
        add_folder(wheel, record, tree, "cawb/tree/")
        for name, text in about(version).items():
            add(wheel, record, info + name, text.encode(), 0o644)
        wheel.writestr(zipfile.ZipInfo(info + "RECORD", DATE), "\n".join(record + [info + "RECORD,,"]) + "\n")
    print(path)


main(*sys.argv[1:])
