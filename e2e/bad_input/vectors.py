# SPDX-License-Identifier: Apache-2.0
"""Bad input, as data: what is sent, and what it is called."""

DEEP = 10000

# Request heads that two servers could read in two ways. A function gets the server and gives the bytes;
# a second request follows each, which must never be answered.
SMUGGLED = b"GET /smuggled HTTP/1.1\r\nHost: server\r\n\r\n"


def framing():
    def body(*lines, data=b"", **options):
        return lambda server: server.head(*lines, **options) + data

    def swap(old, new):
        return lambda server: server.head("Content-Length: 0").replace(old, new)

    chunked = "Transfer-Encoding: chunked"
    return {
        "bare line feeds": swap(b"\r\n", b"\n"),
        "a carriage return that ends an empty value": body("X-Empty:\rTransfer-Encoding: chunked"),
        "a blank before the colon": body("Content-Length : 5", data=b"hello"),
        "a folded line": body("X-Folded: a\r\n b", "Content-Length: 0"),
        "a length and chunks": body("Content-Length: 5", chunked, data=b"0\r\n\r\n"),
        "two lengths": body("Content-Length: 5", "Content-Length: 6", data=b"hello"),
        "two lengths in one line": body("Content-Length: 5, 6", data=b"hello"),
        "a signed length": body("Content-Length: +5", data=b"hello"),
        "a negative length": body("Content-Length: -5", data=b"hello"),
        "a hexadecimal length": body("Content-Length: 0x5", data=b"hello"),
        "a length that overflows": body("Content-Length: 18446744073709551621", data=b"hello"),
        "an unknown transfer coding": body("Transfer-Encoding: xchunked", data=b"5\r\nhello\r\n0\r\n\r\n"),
        "chunked not last": body("Transfer-Encoding: chunked, identity", data=b"0\r\n\r\n"),
        "chunked twice": body(chunked, chunked, data=b"0\r\n\r\n"),
        "a chunk size with 0x": body(chunked, data=b"0x5\r\nhello\r\n0\r\n\r\n"),
        "a chunk size with a sign": body(chunked, data=b"+5\r\nhello\r\n0\r\n\r\n"),
        "a line feed in a chunk extension": body(chunked, data=b"5;a\nb\r\nhello\r\n0\r\n\r\n"),
        "a chunk longer than its size": body(chunked, data=b"4\r\nhello\r\n0\r\n\r\n"),
        "two hosts": body("Host: other", "Content-Length: 0"),
        "no host": body("Content-Length: 0", host=False),
        "a NUL in a value": body("X-Nul: a\0b", "Content-Length: 0"),
        "a name that is no token": body("X(bad): a", "Content-Length: 0"),
        "an unknown version": swap(b"HTTP/1.1", b"HTTP/3.7"),
        "chunks in HTTP/1.0": lambda server: server.head(chunked).replace(b"HTTP/1.1", b"HTTP/1.0")
                              + b"0\r\n\r\n",
        "a request line of one word": lambda server: b"NONSENSE\r\n\r\n",
        "a very long target": body("Content-Length: 0", target="GET /" + "a" * 100000),
        "a very long value": body("X-Long: " + "a" * 100000, "Content-Length: 0"),
        "very many header lines": body(*[f"X-{i}: {i}" for i in range(2000)], "Content-Length: 0"),
        "bytes that are no HTTP": lambda server: bytes(range(256)) * 16,
    }


JSON = {
    "an open object": "{",
    "a trailing comma": '{"a":1,}',
    "two values": "{} {}",
    "a bare word": "nul",
    "a single quote": "{'a':1}",
    "a number with a leading zero": '{"a":01}',
    "an unknown escape": '{"a":"\\x"}',
    "a control character in a string": '{"a":"\x01"}',
    "a lone surrogate": '{"a":"\\ud800"}',
    "bytes that are no UTF-8": b'{"a":"\xff\xfe"}',
    "an array for an object": "[]",
    "a string for an object": '"text"',
    "very deep arrays": "[" * DEEP + "]" * DEEP,
    "very deep objects": '{"a":' * DEEP + "1" + "}" * DEEP,
    "deep and never closed": "[" * DEEP,
}

YAML = {
    "a tab as indent": "a:\n\t- b",
    "an alias to nothing": "a: *b",
    "an alias bomb": "a: &a [x,x,x,x,x,x,x,x,x]\n" + "\n".join(
        f"{chr(98 + i)}: &{chr(98 + i)} [{','.join(['*' + chr(97 + i)] * 9)}]" for i in range(12)),
    "a loop": "a: &a [*a]",
    "very deep": "[" * DEEP + "]" * DEEP,
    "an unclosed quote": 'a: "b',
    "bytes that are no UTF-8": b"a: \xff\xfe",
    "a doubled key": "kind: Secret\nkind: Pod",
    "a list": "- a\n- b",
}
