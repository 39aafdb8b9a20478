#!/usr/bin/env python3
"""Puts a plugin of this folder into Pooled's plugin folder, with all that it needs.

    python3 install.py granite ~/.config/pooled/plugins

A plugin is one folder without links, so that its sum covers everything that runs: the libraries are installed into its lib/ and
not into a virtual environment. One such environment is made on the way, for the compiler of .proto files, and removed.

Exit status: 0 done, 3 where pip cannot install the packages, 1 for anything else.
"""

import argparse
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile
import venv

HERE = pathlib.Path(__file__).resolve().parent
CORE = HERE.parents[2] / "core" / "plugin"
PROTOS = {"granite": CORE / "modelv1" / "model.proto", "tables": CORE / "toolv1" / "tool.proto"}
COMPILER = ["grpcio-tools==1.85.1", "setuptools==84.2.1"]

LAUNCHER = """#!/bin/sh
# Written by install.py: runs lib/__main__.py with the Python that the libraries in lib were installed for.
# -I leaves the user's environment and packages out, -B writes nothing beside what was approved.
exec {python} -I -B "${{0%/*}}/lib"
"""


NO_PACKAGES = 3  # exit status


def run(*command, status=1):
    """Runs a command, or ends with the status."""
    done = subprocess.run([str(c) for c in command], stdout=sys.stderr)
    if done.returncode:
        print(f"install.py: {shlex.join(str(c) for c in command)} ended with status {done.returncode}", file=sys.stderr)
        sys.exit(status)


def build(name, to):
    """Fills the folder to with the plugin."""
    lib = to / "lib"
    shutil.copytree(HERE / name, to, ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    lib.mkdir()
    for source in [HERE / "pooled_plugin.py", *(HERE / name).glob("*.py")]:
        shutil.copy(source, lib)
    with tempfile.TemporaryDirectory() as temp:
        venv.create(temp, with_pip=True)
        python = pathlib.Path(temp, "Scripts" if os.name == "nt" else "bin", "python")
        pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        run(*pip, *COMPILER, "-r", HERE / "requirements.txt", status=NO_PACKAGES)
        proto = PROTOS[name]
        run(python, "-m", "grpc_tools.protoc", "-I", proto.parent, "--python_out", lib, "--grpc_python_out", lib, proto)
        run(*pip, "--no-compile", "--target", lib, "-r", HERE / "requirements.txt", status=NO_PACKAGES)
    launcher = to / name
    launcher.write_text(LAUNCHER.format(python=shlex.quote(sys.executable)))
    launcher.chmod(0o755)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", choices=sorted(PROTOS))
    parser.add_argument("folder", type=pathlib.Path, help='the plugin folder: "pooled plugin list" names it')
    args = parser.parse_args()
    target = args.folder / args.name
    if target.exists():
        sys.exit(f'{target} is there already; remove it first: pooled plugin remove {args.name}')
    args.folder.mkdir(parents=True, exist_ok=True)
    # Whole or not at all: a name that begins with a dot is no plugin.
    with tempfile.TemporaryDirectory(prefix=".install-", dir=args.folder) as temp:
        made = pathlib.Path(temp, args.name)
        build(args.name, made)
        made.rename(target)
    print(f"Wrote {target}. Next:\n\n  pooled plugin check {target}\n  pooled plugin approve {args.name}")


main()
