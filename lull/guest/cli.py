# SPDX-License-Identifier: GPL-2.0-only
"""``lull guest``: a script in, what it printed in a Debian out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lull.command_group import command_group
from lull.guest.boot import Start, boot
from lull.guest.image import base_image
from lull.guest.installed import find_packages, installed
from lull.guest.loader import with_loader
from lull.host.files import read_input, shown_path
from lull.host.progress import open_progress
from lull.kernels.cache import Cache
from lull.real.catalog import more
from lull.real.stress import load as load_stress
from lull.real.userspace import root_of
from lull.vm.console import show

app = command_group("A Debian with systemd in a virtual machine.")

_Packages = Annotated[
    Path | None,
    typer.Option(
        metavar="FOLDER", help="Install these first: of lull kernel deb -o FOLDER."
    ),
]


@app.command("build")
def build_command(
    packages: _Packages = None,
    scenarios: Annotated[
        bool,
        typer.Option("--scenarios", help="The disks of measure and stress, too."),
    ] = False,
) -> None:
    """Build the guest's disk, and install packages in it."""
    cache = Cache()
    cache.prepare()
    with open_progress() as progress:
        if scenarios:
            base_image(cache, progress, more=more())
            root_of(load_stress().packages, cache, progress)
        if packages is None:
            image = base_image(cache, progress)
        else:
            image = installed(cache, find_packages(packages), progress)
    print(f"{image.disk}: what is in it is in {image.packages.name} beside it")


@app.command("run")
def run_command(
    script: Annotated[Path, typer.Argument(help="For sh, as root, in the guest.")],
    packages: _Packages = None,
    loader: Annotated[
        bool,
        typer.Option("--loader", help="Start from a disk with GRUB, by its menu."),
    ] = False,
    output: Annotated[
        Path, typer.Option("-o", "--output", help="For the console and the rest.")
    ] = Path("runs/guest"),
) -> None:
    """Start the guest, run SCRIPT in it, print what it printed.

    What it writes to its disk is gone at the end. With --packages it has their
    kernel. Exit status 125 where the script fails.
    """
    job = read_input(script, "name a script for sh").decode("utf-8", "replace")
    cache = Cache()
    cache.prepare()
    with open_progress() as progress:
        if packages is None:
            image = base_image(cache, progress)
        else:
            image = installed(cache, find_packages(packages), progress)
        start = Start(image.kernel, image.initrd, image.disk)
        if loader:
            start = with_loader(cache, image, progress)
        progress.step("the guest runs the script")
        said = boot(start, job, output)
    for line in said.splitlines():
        print(show(line.encode("utf-8", "replace")))
    print(f"the guest's console: {shown_path(output / 'console.log')}")
