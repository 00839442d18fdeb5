"""A conda channel, served from loopback: what is read of it, and what a bad one can do."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from observatory.numba_bound.releases import ALL, CURRENT, Channel, Index, choose
from observatory.numba_bound.status import NoAnswerError
from tests.factories_numba_bound import FakeUv, repodata

Answer = Callable[[BaseHTTPRequestHandler], None]
ANY = SpecifierSet()


def serve(content: bytes, status: int = 200, **headers: str) -> Answer:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        for name, value in {"Content_Length": str(len(content)), **headers}.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(content)

    return answer


class Server:
    """A channel on loopback: answers by path, in order; the last one again and again."""

    def __init__(self) -> None:
        self.answers: dict[str, list[Answer]] = {}
        self.asked: list[str] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                server.asked.append(self.path)
                queue = server.answers.get(self.path, [serve(b"", 404)])
                (queue.pop(0) if len(queue) > 1 else queue[0])(self)

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.base = f"http://127.0.0.1:{self.http.server_port}/forge"

    def put(self, file: str, *answers: Answer) -> None:
        self.answers[f"/forge/linux-64/{file}"] = list(answers)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    made = Server()
    thread = threading.Thread(target=made.http.serve_forever, args=(0.01,))
    thread.start()
    yield made
    made.http.shutdown()
    made.http.server_close()
    thread.join()


def channel(server: Server, **options: Any) -> Channel:
    return Channel(server.base, **{"sleep": lambda _: None, **options})


def versions(*texts: str) -> frozenset[Version]:
    return frozenset(map(Version, texts))


def test_final_releases_of_numba_are_read_from_both_maps(server: Server) -> None:
    server.put(ALL, serve(repodata("0.66.0", "0.68.0", "0.69.0rc1", "0.68.0.dev3", "new", "")))
    assert channel(server).versions(ALL) == versions("0.66.0", "0.68.0")
    assert server.asked == ["/forge/linux-64/repodata.json"]


def test_a_slash_at_the_end_of_the_base_changes_nothing(server: Server) -> None:
    server.put(ALL, serve(repodata("0.68.0")))
    assert Channel(f"{server.base}/").versions(ALL) == versions("0.68.0")


def test_what_was_removed_from_the_channel_is_not_there(server: Server) -> None:
    server.put(ALL, serve(repodata("0.68.0", "0.68.1", removed=["numba-0.68.1-py312h1_0.conda"])))
    assert channel(server).versions(ALL) == versions("0.68.0")


def test_an_answer_may_be_packed(server: Server) -> None:
    server.put(ALL, serve(gzip.compress(repodata("0.68.0")), Content_Encoding="gzip"))
    assert channel(server).versions(ALL) == versions("0.68.0")


def test_the_small_index_need_not_be_there_and_the_other_has_to(server: Server) -> None:
    assert channel(server).versions(CURRENT) == frozenset()
    with pytest.raises(NoAnswerError, match=r"status 404; is the base URL right\?"):
        channel(server).versions(ALL)


def test_a_server_that_recovers_is_asked_again(server: Server) -> None:
    slept: list[float] = []
    broken = serve(b"{", Content_Length="9")
    server.put(ALL, serve(b"", 503), serve(b"", 429), serve(repodata("0.68.0")))
    assert channel(server, sleep=slept.append).versions(ALL) == versions("0.68.0")
    assert slept == [1.0, 2.0]
    server.put(ALL, broken, serve(repodata("0.68.0")))
    assert channel(server, silence=1.0).versions(ALL) == versions("0.68.0")


@pytest.mark.parametrize(
    ("answer", "why", "times"),
    [
        (serve(b"", 503), "status 503", 3),
        (serve(b"", 403), "status 403", 1),
        (serve(b""), "is not a JSON object", 1),
        (serve(b"<html>"), "is not a JSON object", 1),
        (serve(b" " * 2000), "more than 1000 bytes", 1),
        (serve(gzip.compress(b" " * 5_000_000), Content_Encoding="gzip"), "more than 1000 b", 1),
        (serve(gzip.compress(repodata("0.68.0"))[:-40], Content_Encoding="gzip"), "is cut off", 1),
        (serve(b"not gzip", Content_Encoding="gzip"), "incorrect header check", 3),
        (serve(b"", 302, Location="file:///etc/passwd"), "did not serve", 3),
        (serve(b"", 302, Location="ftp://127.0.0.1/x"), "did not serve", 3),
        (lambda handler: handler.connection.close(), "did not serve", 3),
    ],
)
def test_a_bad_answer_is_a_sentence(server: Server, answer: Answer, why: str, times: int) -> None:
    server.put(ALL, answer)
    with pytest.raises(NoAnswerError, match=r"the channel at 127\.0\.0\.1 ") as error:
        channel(server, most=1000).versions(ALL)
    assert why in str(error.value)
    assert len(server.asked) == times


def test_silence_and_dripping_end(server: Server) -> None:
    stop = threading.Event()

    def silent(_: BaseHTTPRequestHandler) -> None:
        stop.wait(20)

    def dripping(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.end_headers()
        while not stop.wait(0.02):
            try:
                handler.wfile.write(b" " * 300_000)
            except OSError:
                return

    try:
        server.put(ALL, silent)
        with pytest.raises(NoAnswerError, match="timed out"):
            channel(server, silence=0.05).versions(ALL)
        server.put(ALL, dripping)
        with pytest.raises(NoAnswerError, match="took longer than 0 s"):
            channel(server, time_limit=0.1).versions(ALL)
    finally:
        stop.set()


@pytest.mark.parametrize(
    "base",
    ["conda.example.org", "file:///etc", "ftp://example.org/x", "http://", "https://a/b?c=d",
     "https://a/b#c", "https://user:word@a/b", "", "javascript:x"],
)  # fmt: skip
def test_only_web_addresses_without_secrets_are_base_urls(base: str) -> None:
    with pytest.raises(ValueError, match="the base URL of a channel"):
        Channel(base)


def test_a_token_in_the_path_is_not_repeated() -> None:
    assert (
        Channel("https://conda.example.org/t/secret/x").name == "the channel at conda.example.org"
    )


def chosen(server: Server, uv: FakeUv | None = None, but: SpecifierSet = ANY) -> str:
    found = choose(Index(">=3.12", uv or FakeUv()), but, None, channel(server))
    return str(found.end)


def test_where_both_have_the_newest_the_small_index_is_enough(server: Server) -> None:
    server.put(CURRENT, serve(repodata("0.60.0", "0.68.1")))
    assert chosen(server) == "0.68.1"
    assert server.asked == ["/forge/linux-64/current_repodata.json"]


@pytest.mark.parametrize(
    ("of_channel", "expected"),
    [
        (("0.60.0", "0.68.0"), "0.68.0"),  # behind the index
        (("0.60.0", "0.68.0", "0.68.1", "0.69.0"), "0.68.1"),  # ahead of it
        (("0.66.0", "0.67.0", "0.67.1"), "0.66.0"),  # has what the index never had
    ],
)
def test_the_newest_of_both_is_taken(
    server: Server, of_channel: tuple[str, ...], expected: str
) -> None:
    server.put(CURRENT, serve(repodata(of_channel[0], of_channel[-1])))
    server.put(ALL, serve(repodata(*of_channel)))
    assert chosen(server) == expected


def test_what_a_pin_excludes_is_not_taken(server: Server) -> None:
    server.put(CURRENT, serve(repodata("0.68.1")))
    server.put(ALL, serve(repodata("0.66.0", "0.68.0", "0.68.1")))
    assert chosen(server, but=SpecifierSet("!=0.68.1")) == "0.68.0"
    assert chosen(server, but=SpecifierSet("!=0.68.*")) == "0.66.0"


def test_what_was_yanked_from_the_index_is_not_taken(server: Server) -> None:
    server.put(CURRENT, serve(repodata("0.68.1")))
    server.put(ALL, serve(repodata("0.68.0", "0.68.1")))
    assert chosen(server, FakeUv(yanked=("0.68.1",))) == "0.68.0"


@pytest.mark.parametrize("of_channel", [(), ("0.69.0",), ("0.50.0", "0.51.0")])
def test_no_release_in_common_is_a_sentence(server: Server, of_channel: tuple[str, ...]) -> None:
    server.put(ALL, serve(repodata(*of_channel)))
    with pytest.raises(NoAnswerError, match=r"no final release of numba|is in both"):
        chosen(server)


def test_the_source_is_told_with_the_newest_of_all(server: Server) -> None:
    server.put(ALL, serve(repodata("0.68.0")))
    found = choose(Index(">=3.12", FakeUv()), ANY, None, channel(server))
    assert "package index and the channel at 127.0.0.1 both have" in found.source
    assert found.source.endswith("the newest of all is 0.68.1")


def test_a_wish_has_to_be_in_the_index_and_in_the_channel(server: Server) -> None:
    server.put(ALL, serve(repodata("0.66.0", "0.67.0")))
    index = Index(">=3.12", FakeUv(yanked=("0.68.0",)))
    found = choose(index, ANY, Version("0.66.0"), channel(server))
    assert (str(found.end), str(found.newest)) == ("0.66.0", "0.68.1")
    assert found.source == "chosen by --to; the newest is 0.68.1"
    for wish in ("0.67.0", "0.68.0", "0.99.0"):
        with pytest.raises(NoAnswerError, match="the package index has no numba"):
            choose(index, ANY, Version(wish), channel(server))
    with pytest.raises(NoAnswerError, match=r"the channel at 127\S+ has no numba 0\.68\.1"):
        choose(index, ANY, Version("0.68.1"), channel(server))


def test_pins_that_exclude_every_release_are_a_sentence() -> None:
    with pytest.raises(NoAnswerError, match="the pins exclude every release of numba"):
        choose(Index(">=3.12", FakeUv()), SpecifierSet("!=0.*"), None, None)
