# SPDX-License-Identifier: Apache-2.0
"""An image of busybox alone, which is what critest runs its commands in: busybox.py ARCHIVE, as an OCI archive."""
import hashlib
import io
import json
import os
import subprocess
import sys
import tarfile

BUSYBOX = "/bin/busybox"
APPLETS = ("sh", "top", "ls", "cat", "echo", "sleep", "touch", "grep", "ps", "id", "mount", "umount", "nc", "hostname", "true",
           "false", "test", "chmod", "mkdir", "rm", "ln", "ipcs", "ip", "sed", "awk", "head", "tail", "wc", "dd", "seq", "stat",
           "brctl", "su", "sysctl", "logger", "httpd", "wget", "env", "pwd", "date", "kill", "tee", "du", "df", "find", "usleep")
TEXTS = {"etc/passwd": "root:x:0:0:root:/root:/bin/sh\ndefault-user:x:1000:1000::/:/bin/sh\n"
                       "nobody:x:65534:65534:nobody:/:/bin/false\n",
         "etc/group": "root:x:0:\ndefault-group:x:1000:\nnogroup:x:65534:\n", "etc/hostname": "busybox\n"}


def entry(archive, name, kind=tarfile.REGTYPE, mode=0o755, data=b"", link=""):
    info = tarfile.TarInfo(name)
    info.type, info.mode, info.size, info.linkname = kind, mode, len(data), link
    archive.addfile(info, io.BytesIO(data))


def layer():
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w") as archive:
        for folder, mode in (("bin", 0o755), ("etc", 0o755), ("root", 0o700), ("tmp", 0o1777), ("var", 0o755)):
            entry(archive, folder, tarfile.DIRTYPE, mode)
        with open(BUSYBOX, "rb") as file:
            entry(archive, "bin/busybox", data=file.read())
        for applet in APPLETS:
            entry(archive, f"bin/{applet}", tarfile.SYMTYPE, 0o777, link="busybox")
        for name, text in TEXTS.items():
            entry(archive, name, mode=0o644, data=text.encode())
    return raw.getvalue()


def blob(archive, kind, content):
    digest = hashlib.sha256(content).hexdigest()
    entry(archive, f"blobs/sha256/{digest}", mode=0o644, data=content)
    return {"mediaType": f"application/vnd.oci.image.{kind}", "digest": f"sha256:{digest}", "size": len(content)}


def main(path):
    machine = {"x86_64": "amd64", "aarch64": "arm64"}.get(os.uname().machine, os.uname().machine)
    with tarfile.open(path, "w") as archive:
        files = layer()
        described = blob(archive, "layer.v1.tar", files)
        config = blob(archive, "config.v1+json", json.dumps({
            "architecture": machine, "os": "linux", "config": {"Env": ["PATH=/bin"], "Cmd": ["sh"]},
            "rootfs": {"type": "layers", "diff_ids": [described["digest"]]}}).encode())
        manifest = blob(archive, "manifest.v1+json", json.dumps({
            "schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json", "config": config,
            "layers": [described]}).encode())
        entry(archive, "oci-layout", mode=0o644, data=b'{"imageLayoutVersion": "1.0.0"}')
        entry(archive, "index.json", mode=0o644, data=json.dumps({"schemaVersion": 2, "manifests": [manifest]}).encode())


if __name__ == "__main__":
    subprocess.run([BUSYBOX, "true"], check=True)
    main(sys.argv[1])
