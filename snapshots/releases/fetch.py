#!/usr/bin/env python3
"""Fetches two released versions each of some packages, for `cargo test -p tslp-snapshots --test confusion releases`.

usage: fetch.py FOLDER

Each package's two versions are unpacked to FOLDER/NAME/old and FOLDER/NAME/new by the ordinary clients of their registries:
cargo, npm and pip. Nothing of it is part of the repository.
"""

import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from pathlib import Path

CRATES = [
    ("libgit2-sys", "0.17.0+1.8.1", "0.18.0+1.9.0"),
    ("zstd-sys", "2.0.9+zstd.1.5.5", "2.0.13+zstd.1.5.6"),
    ("libz-sys", "1.1.8", "1.1.20"),
    ("curl-sys", "0.4.70+curl-8.5.0", "0.4.78+curl-8.11.0"),
    ("librocksdb-sys", "0.16.0+8.10.0", "0.17.1+9.9.3"),
    ("clap_builder", "4.4.0", "4.5.0"),
    ("tokio", "1.35.0", "1.40.0"),
    ("regex-automata", "0.3.0", "0.4.7"),
    ("syn", "2.0.30", "2.0.80"),
    ("serde_json", "1.0.100", "1.0.128"),
    ("hyper", "1.0.0", "1.4.0"),
]
NPM = [
    ("eslint", "8.50.0", "9.10.0"),
    ("express", "4.18.0", "4.21.0"),
    ("axios", "1.4.0", "1.7.0"),
    ("underscore", "1.12.0", "1.13.6"),
    ("rxjs", "7.5.0", "7.8.0"),
    ("zod", "3.25.0", "4.0.0"),
    ("effect", "3.5.0", "3.8.0"),
    ("re2", "1.20.0", "1.21.0"),
]
PYPI = [
    ("django", "4.2", "5.0"),
    ("flask", "2.2.0", "3.0.0"),
    ("rich", "12.0.0", "13.7.0"),
    ("requests", "2.28.0", "2.32.0"),
    ("pytest", "7.4.0", "8.2.0"),
    ("JPype1", "1.4.0", "1.5.0"),
]


def run(*command, cwd=None):
    subprocess.run(command, cwd=cwd, check=True, stdout=subprocess.DEVNULL)


def unpack(archive, target):
    with tempfile.TemporaryDirectory() as folder:
        if archive.suffix in (".whl", ".zip"):
            zipfile.ZipFile(archive).extractall(folder)
        else:
            tarfile.open(archive).extractall(folder, filter="data")
        tops = list(Path(folder).iterdir())
        shutil.copytree(tops[0] if len(tops) == 1 else folder, target)


def crate(name, version, target):
    with tempfile.TemporaryDirectory() as folder:
        manifest = Path(folder, "Cargo.toml")
        manifest.write_text(
            f'[package]\nname = "fetched"\nversion = "0.0.0"\n[lib]\npath = "lib.rs"\n[dependencies]\n{name} = "={version}"\n'
        )
        Path(folder, "lib.rs").touch()
        run("cargo", "vendor", "--quiet", cwd=folder)
        wanted = version.split("+")[0]
        for found in Path(folder, "vendor").iterdir():
            package = tomllib.loads(Path(found, "Cargo.toml").read_text())["package"]
            if package["name"] == name and package["version"].split("+")[0] == wanted:
                shutil.copytree(found, target)


def npm(name, version, target):
    with tempfile.TemporaryDirectory() as folder:
        run("npm", "pack", "--silent", f"{name}@{version}", cwd=folder)
        unpack(next(Path(folder).iterdir()), target)


def pypi(name, version, target):
    with tempfile.TemporaryDirectory() as folder:
        source = ["--no-deps", "--no-build-isolation", "--no-binary", ":all:", "-q", "-d", folder]
        try:
            run(sys.executable, "-m", "pip", "download", *source, f"{name}=={version}")
        except subprocess.CalledProcessError:
            run(sys.executable, "-m", "pip", "download", "--no-deps", "-q", "-d", folder, f"{name}=={version}")
        unpack(next(Path(folder).iterdir()), target)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = Path(sys.argv[1])
    for fetch, packages in ((crate, CRATES), (npm, NPM), (pypi, PYPI)):
        for name, old, new in packages:
            for side, version in (("old", old), ("new", new)):
                target = folder / name / side
                if target.exists():
                    continue
                try:
                    fetch(name, version, target)
                except (subprocess.CalledProcessError, OSError, StopIteration) as error:
                    print(f"{name} {version} can't be fetched: {error}", file=sys.stderr)


main()
