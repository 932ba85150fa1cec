# SPDX-License-Identifier: Apache-2.0
"""Files and folders: what is asked for happens to the byte, and what cannot be says why."""
import json
import os
import stat
import urllib.parse

from cases import Skip, case, equal, true
from daemon import until
from multipart import BOUNDARY, end, metadata, part

def upload(execd, *parts, boundary=BOUNDARY, **more):
    headers = {"Content-Type": f"multipart/form-data; boundary={boundary}"}
    return execd.call("POST", "/files/upload", b"".join(parts) + end(), headers, **more)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def download(execd, path, headers=None, **query):
    return execd.call("GET", "/files/download", headers=headers, query=dict(query, path=path))


def info(execd, path):
    return execd.call("GET", "/files/info", query={"path": path}).json()[path]


@case("an upload makes folders, keeps bytes, sets mode and owner; info tells them")
def round_trip(execd):
    path = execd.path("up", "deep", "b\u00fcn n.bin")
    data = bytes(range(256)) * 41 + b"\r\n--" + BOUNDARY.encode()[:-1]
    answer = upload(execd, metadata(path, mode=640, owner=None, group=None), part("file", data, "x", "text/plain"))
    equal((answer.status, answer.body), (200, b""))
    equal(read(path), data)
    about = info(execd, path)
    equal((about["mode"], about["size"], about["type"], about["path"]), (640, len(data), "file", path))
    true(about["created_at"] >= about["modified_at"], about)
    answer = download(execd, path)
    equal((answer.status, answer.body), (200, data))
    equal(answer.headers["Content-Type"], "application/octet-stream")
    equal(answer.headers["Accept-Ranges"], "bytes")
    true("filename*=UTF-8''b%C3%BCn%20n.bin" in answer.headers["Content-Disposition"], answer.headers)


@case("owner and group: names, numbers, null")
def owners(execd):
    if os.getuid() != 0:
        raise Skip("needs root")
    path = execd.path("owned")
    equal(upload(execd, metadata(path, owner="nobody", group="nogroup", mode=755), part("file", b"1", "f")).status, 200)
    about = info(execd, path)
    equal((about["owner"], about["group"], about["mode"]), ("nobody", "nogroup", 755))
    equal(execd.call("POST", "/files/permissions", {path: {"owner": "12345", "group": "0", "mode": 600}}).status, 200)
    about = info(execd, path)
    equal((about["owner"], about["group"], about["mode"]), ("12345", "root", 600))
    equal(execd.call("POST", "/files/permissions", {path: {"mode": 4755}}).status, 200)
    equal(stat.S_IMODE(os.stat(path).st_mode), 0o4755)
    for bad, status in (({path: {"mode": 788}}, 400), ({path: {"owner": "no such user"}}, 404),
                        ({execd.path("none"): {"mode": 644}}, 404)):
        true(execd.call("POST", "/files/permissions", bad).status in (status, 500), str(bad))


@case("a thousand pairs in one request, empty files among them")
def many_pairs(execd):
    parts = []
    for number in range(1200):
        parts.append(metadata(execd.path("many", f"f{number}"), mode=644))
        parts.append(part("file", b"x" * (number % 5), "f"))
    equal(upload(execd, *parts).status, 200)
    for number in range(1200):
        equal(os.path.getsize(execd.path("many", f"f{number}")), number % 5)


@case("all metadata first, a part without file name, a quoted boundary, other parts: taken")
def other_shapes(execd):
    one, two = execd.path("one"), execd.path("two")
    equal(upload(execd, metadata(one), metadata(two), part("file", b"1", "f"), part("file", b"2", "g")).status, 200)
    equal((read(one), read(two)), (b"1", b"2"))
    plain = part("metadata", json.dumps({"path": one, "mode": None}).encode())
    equal(upload(execd, plain, part("other", b"?"), part("file", b"3"), boundary=f'"{BOUNDARY}"').status, 200)
    equal(read(one), b"3")


@case("an upload in chunks is taken as one with a length")
def chunked(execd):
    path = execd.path("chunked")
    data = os.urandom(300000)
    body = metadata(path) + part("file", data, "f") + end()
    headers = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}
    equal((_chunked(execd, body, headers), read(path)), (200, data))


def _chunked(execd, body, headers):
    connection = execd.open()
    pieces = (body[i:i + 777] for i in range(0, len(body), 777))
    connection.request("POST", "/files/upload", pieces, execd.headers(headers), encode_chunked=True)
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer.status


@case("bad uploads: the contract's codes, and nothing half-written stays")
def bad_uploads(execd):
    path = execd.path("bad", "file")
    for parts, code in (((metadata(path),), "INVALID_FILE_CONTENT"),
                        ((part("file", b"x", "f"),), "INVALID_FILE_METADATA"),
                        ((), "INVALID_FILE_METADATA"),
                        ((part("metadata", b"{", "m"), part("file", b"x", "f")), "INVALID_FILE_METADATA"),
                        ((part("metadata", b"{}", "m"), part("file", b"x", "f")), "INVALID_FILE_METADATA"),
                        ((metadata(path, mode=999), part("file", b"x", "f")), "INVALID_FILE_METADATA"),
                        ((metadata(path), metadata(path + "2"), part("file", b"x", "f")), "INVALID_FILE"),
                        ((metadata(path), part("file", b"x", "f"), part("file", b"y", "f")), "INVALID_FILE_METADATA")):
        answer = upload(execd, *parts)
        equal((answer.status, answer.json()["code"]), (400, code), parts)
    equal(execd.call("POST", "/files/upload", b"{}", {"Content-Type": "application/json"}).status, 400)
    cut = metadata(path + "3") + part("file", b"x" * 1000, "f")[:-10]
    answer = execd.call("POST", "/files/upload", cut, {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"})
    equal((answer.status, answer.json()["code"]), (400, "INVALID_FILE"))
    true(not os.path.exists(path + "3"), "a cut file is not there")
    equal([f for f in os.listdir(execd.path("bad")) if f.startswith(".")], [])


@case("a client that goes away inside its upload leaves the old file and no other")
def lost_upload(execd):
    path = execd.path("lost", "file")
    equal(upload(execd, metadata(path), part("file", b"old", "f")).status, 200)
    connection = execd.open()
    body = metadata(path) + part("file", b"new" * 100000, "f")
    headers = execd.headers({"Content-Type": f"multipart/form-data; boundary={BOUNDARY}",
                             "Content-Length": str(len(body) * 2)})
    connection.request("POST", "/files/upload", body, headers)
    until(lambda: len(os.listdir(execd.path("lost"))) == 2, 10, "the temporary file is there")
    connection.close()
    until(lambda: os.listdir(execd.path("lost")) == ["file"], 10, "it is gone")
    equal(read(path), b"old")


@case("an overwritten file keeps its mode; links are followed; its time moves on")
def overwrite(execd):
    path, link = execd.path("over"), execd.path("link")
    equal(upload(execd, metadata(path, mode=600), part("file", b"1", "f")).status, 200)
    os.symlink(path, link)
    before = info(execd, path)["modified_at"]
    equal(upload(execd, metadata(link), part("file", b"22", "f")).status, 200)
    after = info(execd, path)
    true(os.path.islink(link) and read(path) == b"22", "the target is written")
    equal(after["mode"], 600)
    true(after["modified_at"] > before, (before, after))
    equal(info(execd, link)["type"], "symlink")
    equal(upload(execd, metadata(execd.folder), part("file", b"1", "f")).status, 500)


@case("ranges: all three forms, cut at the end, 206 and 416")
def ranges(execd):
    path = execd.path("ranged")
    with open(path, "wb") as file:
        file.write(bytes(range(100)))
    for text, first, length in (("bytes=0-9", 0, 10), ("bytes=95-", 95, 5), ("bytes=-3", 97, 3),
                                ("bytes=90-9223372036854775807", 90, 10), ("bytes=500-, 1-2", 1, 2)):
        answer = download(execd, path, {"Range": text})
        equal((answer.status, answer.body), (206, bytes(range(first, first + length))), text)
        equal(answer.headers["Content-Range"], f"bytes {first}-{first + length - 1}/100")
    answer = download(execd, path, {"Range": "bytes=100-"})
    equal((answer.status, answer.headers["Content-Range"]), (416, "bytes */100"))
    answer = download(execd, path, {"Range": "bytes=x"})
    equal((answer.status, answer.json()["code"]), (416, "UNKNOWN"))
    equal(download(execd, path, {"Range": "bytes=0-1"}, offset=1).status, 400)
    since = download(execd, path).headers["Last-Modified"]
    equal(download(execd, path, {"If-Modified-Since": since}).status, 304)


@case("lines: offset and limit, joined by LF without an end")
def lines(execd):
    path = execd.path("lines")
    with open(path, "wb") as file:
        file.write(b"line1\nline2\r\nline3\n")
    equal(download(execd, path, offset=2, limit=2).body, b"line2\nline3")
    equal(download(execd, path, limit=1).body, b"line1")
    equal((download(execd, path, offset=9).status, download(execd, path, offset=9).body), (200, b""))
    for bad in ("0", "-1", "x"):
        equal(download(execd, path, offset=bad).status, 400)
    with open(path, "wb") as file:
        for number in range(300000):
            file.write(b"%d\n" % number)
    equal(download(execd, path, offset=299999, limit=5).body, b"299998\n299999")
    equal(len(download(execd, path, offset=1).body.split(b"\n")), 300000)


@case("downloads of what is no file: 404, 400, and no waiting for a FIFO")
def no_files(execd):
    os.mkfifo(execd.path("pipe"))
    equal(download(execd, execd.path("none")).json()["code"], "FILE_NOT_FOUND")
    equal(download(execd, execd.path("none")).status, 404)
    equal(download(execd, execd.folder).status, 400)
    equal(download(execd, execd.path("pipe")).status, 400)
    answer = execd.call("GET", "/files/download")
    equal((answer.status, answer.json()["code"]), (400, "MISSING_QUERY"))
    os.unlink(execd.path("pipe"))
    equal(execd.call("GET", "/files/info", query={"path": execd.path("none")}).status, 404)
    equal(execd.call("GET", "/files/info").json(), {})


@case("names with $, ~, blanks, quotes and percent signs are the names that were given")
def names(execd):
    for name in ("a$5b", "with blank", 'q"uote', "100%", "plus+", "\u65e5\u672c", "semi;colon", "~tilde"):
        path = execd.path("names", name)
        equal(upload(execd, metadata(path), part("file", name.encode(), "f")).status, 200, name)
        equal(read(path), name.encode())
        equal(download(execd, path).body, name.encode(), name)
        true(path in execd.call("GET", "/files/info", query={"path": path}).json(), name)
    answer = execd.call("GET", "/files/info?path=" + urllib.parse.quote("$NO_SUCH_VARIABLE/x"))
    equal(answer.status, 500)


@case("delete, move, make and remove folders: what is missing is gone, what exists stays")
def moves(execd):
    one, two = execd.path("m", "one"), execd.path("m", "new", "two")
    upload(execd, metadata(one), part("file", b"1", "f"))
    equal(execd.call("POST", "/files/mv", [{"src": one, "dest": two}]).status, 200)
    equal(read(two), b"1")
    equal(execd.call("POST", "/files/mv", [{"src": one, "dest": two}]).status, 404)
    upload(execd, metadata(one), part("file", b"2", "f"))
    equal(execd.call("POST", "/files/mv", [{"src": one, "dest": two}]).status, 500)
    equal(read(two), b"1")
    equal(execd.call("POST", "/files/mv", b"{").status, 400)
    os.symlink("/nonexistent", execd.path("m", "dangling"))
    equal(execd.call("DELETE", "/files", query={"path": [one, execd.path("none"), execd.path("m", "dangling")]}).status, 200)
    equal(sorted(os.listdir(execd.path("m"))), ["new"])
    equal(execd.call("DELETE", "/files", query={"path": execd.path("m")}).status, 500)
    folder = execd.path("m", "d", "e")
    equal(execd.call("POST", "/directories", {folder: {"mode": 700, "owner": None, "group": None}}).status, 200)
    equal(info(execd, folder)["mode"], 700)
    equal(execd.call("POST", "/directories", {folder: {"mode": 755}}).status, 200)
    equal(info(execd, folder)["mode"], 700)
    equal(execd.call("POST", "/directories", {two + "/x": {}}).status, 500)
    equal(execd.call("DELETE", "/directories", query={"path": [execd.path("m"), execd.path("none")]}).status, 200)
    true(not os.path.exists(execd.path("m")), "gone with all below")


@case("replace: every occurrence, counted when asked, owner and mode kept, bytes as they are")
def replacing(execd):
    path = execd.path("replaced")
    with open(path, "wb") as file:
        file.write(b"aXbX\xff\0X")
    os.chmod(path, 0o640)
    answer = execd.call("POST", "/files/replace", {path: {"old": "X", "new": "yy"}}, query={"verbose": "true"})
    equal((answer.status, answer.json()), (200, {path: {"replacedCount": 3}}))
    equal((read(path), stat.S_IMODE(os.stat(path).st_mode)), (b"ayybyy\xff\0yy", 0o640))
    answer = execd.call("POST", "/files/replace", {path: {"old": "none", "new": ""}}, query={"verbose": "false"})
    equal((answer.status, answer.body), (200, b""))
    for body, status in (({path: {"old": "", "new": "x"}}, 400), ({path + "2": {"old": "", "new": "x"}}, 404),
                         (b"{", 400), ({path: {"old": 1}}, 400), ({execd.folder: {"old": "a", "new": "b"}}, 500)):
        equal(execd.call("POST", "/files/replace", body).status, status, str(body))
    equal(read(path), b"ayybyy\xff\0yy")


@case("listings and searches: lexical, by depth, links not followed, names by pattern")
def listings(execd):
    for name in ("b/2.txt", "b/1.md", "a.txt", "c/d/3.txt", ".hidden"):
        upload(execd, metadata(execd.path("l", name)), part("file", b"x", "f"))
    os.symlink(execd.path("l", "b"), execd.path("l", "z"))

    def names_of(answer):
        equal(answer.status, 200)
        return [os.path.relpath(entry["path"], execd.path("l")) for entry in answer.json()]

    def listed(**query):
        return names_of(execd.call("GET", "/directories/list", query=dict(query, path=execd.path("l"))))
    equal(listed(), [".hidden", "a.txt", "b", "c", "z"])
    equal(listed(depth=2), [".hidden", "a.txt", "b", "b/1.md", "b/2.txt", "c", "c/d", "z"])
    equal(listed(depth=0), [])

    def found(pattern):
        return names_of(execd.call("GET", "/files/search", query={"path": execd.path("l"), "pattern": pattern}))
    equal(found("*.txt"), ["a.txt", "b/2.txt", "c/d/3.txt"])
    equal(found("**/*.{md,txt}"), ["a.txt", "b/1.md", "b/2.txt", "c/d/3.txt"])
    equal(found("nothing"), [])
    equal(len(found("")), 6)
    for query, status in (({"path": execd.path("none")}, 404), ({"path": execd.path("l", "z")}, 400),
                          ({"path": execd.path("l"), "depth": "x"}, 400), ({}, 400)):
        equal(execd.call("GET", "/directories/list", query=query).status, status, str(query))


@case("a folder of ten thousand entries is listed while others are served")
def large_listing(execd):
    os.makedirs(execd.path("large"))
    for number in range(10000):
        os.close(os.open(execd.path("large", f"{number:05d}"), os.O_CREAT))
    answer = execd.call("GET", "/directories/list", query={"path": execd.path("large")})
    equal([os.path.basename(e["path"]) for e in answer.json()], [f"{n:05d}" for n in range(10000)])
