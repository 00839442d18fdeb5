"""Answers of a forge that nobody should give: addresses, headers and bodies, a list of each."""

from __future__ import annotations

from tests.fake_github import START, Trouble

ADDRESSES = (
    "", " ", "http://[", "http://[::1", "https://[::1]:x/", "http://[v1.x]/", "//[x", "http://]/",
    "http://127.0.0.1:99999/", "http://127.0.0.1:-1/", "http://127.0.0.1:1/", "http://:1/",
    "http://a b/", "http://127.0.0.1:1/\x7f \x01", "http://\xe9\xff/", "https://user@[::1]:x/",
    "http://127.0.0.1:1" + "/a" * 3000, "http://" + "a" * 3000 + "/", "http://xn--\xff/",
    "ftp://127.0.0.1/", "file:///etc/passwd", "javascript:alert(1)", "\\\\127.0.0.1\\x",
    "http:127.0.0.1", "///", "?", "#", "http://127.0.0.1%00.x/", "http://127.0.0.1:1\u00ad/",
    "http://1.1.1.1.1.1/", "http://0x7f.1:1/", "http://%31%32:1/", "data:,x", "http://..:1/",
)  # fmt: skip
"""None leads off this machine."""
_WAITS = ("nan", "inf", "-1", "1e999", "9" * 400, "\xb2", "x", "Mon, 01 Jan 0001 00:00:00 +2359",
          "Fri, 31 Dec 9999 23:59:59 -2359", "Fri, 99 Foo 99999 99:99:99 GMT", "0")  # fmt: skip
HEADERS = (
    *({"Location": one} for one in ADDRESSES),
    *({"Link": f'<{one}>; rel="next"'} for one in ADDRESSES),
    *({"Retry-After": one} for one in _WAITS),
    *({"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": one} for one in (*_WAITS, f"{START}")),
    {"Link": "<a>;" * 8000}, {"X-Long": "y" * 100_000},
    {"Content-Encoding": "gzip"}, {"Content-Encoding": "br, gzip, x"}, {"Content-Length": "x"},
    {"Content-Length": "999999"}, {"Content-Length": "-1"}, {"Transfer-Encoding": "chunked"},
    {"Content-Type": "\xff; charset=\xfe"}, {f"X-{number}": "y" for number in range(150)},
)  # fmt: skip
BODIES = (
    b"", b"\xff\xfe", b"null", b"0", b'"x"', b"[0]", b"[null]", b"[[]]", b"{}", b"[{}]", b"{", b"[",
    b"[" * 100_000, b'{"message":' * 50_000, b'{"data":5}', b'{"data":{},"errors":5}',
    b'{"data":{"nodes":5,"viewer":[]},"errors":{"a":1}}', b'{"errors":[{"type":{},"message":[]}]}',
    b'{"data":{"nodes":[5,{"id":1}],"viewer":{"login":5}}}', b'{"message":{"a":[1]},"errors":"x"}',
    b'[{"id":1e999,"node_id":"","user":{"id":"x"}}]', b'[{"id":' + b"9" * 5000 + b"}]",
    b'{"data":{"viewer":{"login":"ada","databaseId":null}},"errors":[null]}',
    b'{"total_count":1,"artifacts":[{"id":-1}],"check_runs":7}', b'"\\ud800"', b"[" + b"0," * 9**6,
    b"{" + b",".join(b'"%d":0' % number for number in range(30_000)) + b"}",
)  # fmt: skip
STATUSES = (
    0, 200, 201, 204, 206, 300, 301, 302, 304, 307, 308, 400, 401, 403, 404, 409, 410, 418, 422,
    429, 451, 500, 502, 503, 599, 999,
)  # fmt: skip


def answers() -> list[Trouble]:
    """Each header and each body with a status with which somebody reads it, and each status."""
    found = [Trouble(status, content=body) for body in BODIES for status in (200, 422)]
    for headers in HEADERS:
        statuses = (302, 307) if "Location" in headers else (200, 403, 503)
        found += [Trouble(status, headers, content=b"[]") for status in statuses]
    return [*found, *(Trouble(status) for status in STATUSES)]
