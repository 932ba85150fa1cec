# SPDX-License-Identifier: Apache-2.0
"""What holds of files in a sandbox."""
import hashlib
import io
import os

from cases import case, equal, true
from opensandbox.exceptions import SandboxApiException
from opensandbox.models.filesystem import WriteEntry
from output import EXECD_PID, stdout

LARGE = 100 * 1024 * 1024
# execd moves files in small pieces; a hundred megabytes must not show in its peak.
GROWTH_MAX_KB = 8 * 1024


@case("a text comes back as it was written")
def _(face, sandbox):
    text = "line one\nline two\r\nümlaut \u2028 end without a newline"
    sandbox.files.write_file("/tmp/note.txt", text)
    equal(sandbox.files.read_file("/tmp/note.txt"), text, "text")


@case("bytes come back as they were written, of each length")
def _(face, sandbox):
    for length in (0, 1, 1023, 65536, 1024 * 1024 + 1):
        data = os.urandom(length)
        sandbox.files.write_file("/tmp/bytes.bin", data)
        equal(sandbox.files.read_bytes("/tmp/bytes.bin"), data, f"{length} bytes")


@case("what looks like the end of an upload is only content")
def _(face, sandbox):
    data = b"--opensandbox_0000000000000000_0--\r\n\r\n--x\r\nContent-Disposition: form-data\r\n\r\n0\r\n\r\n"
    sandbox.files.write_file("/tmp/multi.bin", data)
    equal(sandbox.files.read_bytes("/tmp/multi.bin"), data, "bytes")


@case("several files are written in one call, with their modes")
def _(face, sandbox):
    sandbox.files.write_files([WriteEntry(path=f"/tmp/many/{i}", data=f"file {i}", mode=640 + i)
                               for i in range(3)])
    out = stdout(sandbox.commands.run("cd /tmp/many && stat -c '%n %a' * && cat 2"))
    equal(out, "0 640\n1 641\n2 642\nfile 2", "files")


@case("a range of a file is that range")
def _(face, sandbox):
    data = bytes(range(256)) * 8
    sandbox.files.write_file("/tmp/range.bin", data)
    equal(sandbox.files.read_bytes("/tmp/range.bin", range_header="bytes=100-199"), data[100:200], "middle")
    equal(sandbox.files.read_bytes("/tmp/range.bin", range_header="bytes=2000-"), data[2000:], "end")
    equal(sandbox.files.read_bytes("/tmp/range.bin", range_header="bytes=-10"), data[-10:], "last ten")


@case("a file's size, mode, owner and kind are told")
def _(face, sandbox):
    sandbox.files.write_file("/tmp/info.txt", "12345", mode=600)
    info = sandbox.files.get_file_info(["/tmp/info.txt"])["/tmp/info.txt"]
    equal((info.size, info.mode, info.owner), (5, 600, "root"), "size, mode, owner")
    true(info.entry_type in (None, "file"), f"type {info.entry_type}")


@case("directories are made and removed, files removed")
def _(face, sandbox):
    sandbox.files.create_directories([WriteEntry(path="/tmp/tree/a/b", mode=755)])
    sandbox.files.write_file("/tmp/tree/a/b/c", "x")
    equal(stdout(sandbox.commands.run("find /tmp/tree | sort")),
          "/tmp/tree\n/tmp/tree/a\n/tmp/tree/a/b\n/tmp/tree/a/b/c\n", "tree")
    sandbox.files.delete_files(["/tmp/tree/a/b/c"])
    sandbox.files.delete_directories(["/tmp/tree"])
    equal(stdout(sandbox.commands.run("ls -d /tmp/tree /tmp/tree/a/b/c 2>/dev/null || true")), "", "left")


@case("a file that is not there is a typed 404")
def _(face, sandbox):
    for call in (lambda: sandbox.files.read_bytes("/tmp/none"),
                 lambda: sandbox.files.get_file_info(["/tmp/none"])):
        try:
            call()
        except SandboxApiException as error:
            equal(error.status_code, 404, "status")
            true(error.error.code not in ("UNEXPECTED_RESPONSE", None), f"code {error.error.code}")
        else:
            raise AssertionError("no error")


@case("a hundred megabytes go up and down exactly, in flat memory", limit_s=300)
def _(face, sandbox):
    block = os.urandom(1024 * 1024)
    data = io.BytesIO(b"".join(block[i % 7:] + block[:i % 7] for i in range(LARGE // len(block))))
    wanted = hashlib.sha256(data.getbuffer()).hexdigest()
    before = peak_kb(sandbox)
    sandbox.files.write_file("/tmp/large.bin", data)
    equal(stdout(sandbox.commands.run("sha256sum </tmp/large.bin")).split()[0], wanted, "up")
    digest = hashlib.sha256()
    for piece in sandbox.files.read_bytes_stream("/tmp/large.bin"):
        digest.update(piece)
    equal(digest.hexdigest(), wanted, "down")
    grown = peak_kb(sandbox) - before
    print(f"execd's peak grew by {grown} kB")
    true(grown < GROWTH_MAX_KB, f"execd's peak grew by {grown} kB")
    sandbox.files.delete_files(["/tmp/large.bin"])


def peak_kb(sandbox):
    """The most memory that execd ever had resident."""
    out = stdout(sandbox.commands.run(f"grep VmHWM /proc/$({EXECD_PID})/status"))
    return int(out.split()[1])
