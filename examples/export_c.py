"""Forward dynamics of the Stanford arm as C, compiled with the system's compiler and compared."""

import argparse
import ctypes
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np

import kane
from kane.backends import to_c

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--folder", help="write the files here and keep them")
arguments = parser.parse_args()

arm = kane.load("stanford-arm")
header, source = to_c(arm.equations().program("forward_dynamics"), "stanford_arm")
print(header)

with tempfile.TemporaryDirectory() as temporary:
    folder = Path(arguments.folder or temporary)
    (folder / "stanford_arm.h").write_text(header, encoding="utf-8")
    (folder / "stanford_arm.c").write_text(source, encoding="utf-8")
    compiler = shutil.which("cc")
    if compiler is None:
        print("there is no C compiler here; the files are complete")
    else:
        library = folder / "stanford_arm.so"
        files = [str(folder / "stanford_arm.c"), "-o", str(library)]
        subprocess.run([compiler, "-O2", "-shared", "-fPIC", *files, "-lm"], check=True)
        function = ctypes.CDLL(str(library)).stanford_arm
        given = np.random.default_rng(1).normal(size=18)  # q, u, tau
        udot = np.empty(6)
        pointer = ctypes.POINTER(ctypes.c_double)
        function(given.ctypes.data_as(pointer), udot.ctypes.data_as(pointer))
        difference = np.abs(udot - arm.forward_dynamics(given[:6], given[6:12], given[12:])).max()
        print(f"C and the compiled model agree within {difference:.0e}")
        assert difference < 1e-9
