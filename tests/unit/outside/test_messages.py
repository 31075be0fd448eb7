"""Messages on the wire: exact bytes, any pieces, and nothing but messages or an error from whatever bytes come."""

import socket
import struct

import numpy as np
import pytest

from freefloat.outside import ContractError
from freefloat.outside.connection import SocketConnection, make_socket, open_listener
from freefloat.outside.messages import MOST_BYTES, Decoder, Kind, Message, WireError, encode


def test_the_layout_is_fixed() -> None:
    """Written out by hand: whoever implements it in another language counts on these bytes."""
    assert encode(Kind.ANSWER, 258, np.array([1.0])) == (
        b"FFSW" b"\x01\x00" b"\x07\x00" b"\x02\x01\x00\x00\x00\x00\x00\x00" b"\x08\x00\x00\x00\x00\x00\x00\x00"
        b"\x00\x00\x00\x00\x00\x00\xf0\x3f"
    )  # fmt: skip


def test_messages_come_whole_from_any_pieces() -> None:
    rng = np.random.default_rng(3)
    sent = [Message(Kind.STEP, k, rng.bytes(8 * int(rng.integers(0, 50)))) for k in range(50)]
    stream = b"".join(encode(one.kind, one.sequence, one.body) for one in sent)
    decoder, came = Decoder(), []
    while stream:
        size = int(rng.integers(1, 200))
        decoder.feed(stream[:size])
        stream = stream[size:]
        while (message := decoder.next_message()) is not None:
            came.append(message)
    assert came == sent
    assert decoder.empty


def test_whatever_bytes_come_are_messages_or_an_error() -> None:
    rng = np.random.default_rng(17)
    valid = encode(Kind.ANSWER, 7, np.arange(5.0))
    for trial in range(3000):
        content = bytearray(rng.bytes(int(rng.integers(0, 120))) if trial % 2 else valid * 2)
        for _ in range(int(rng.integers(0, 4))) if not trial % 2 else ():
            content[int(rng.integers(0, len(content)))] = int(rng.integers(0, 256))
        decoder = Decoder()
        decoder.feed(bytes(content))
        try:
            while (message := decoder.next_message()) is not None:
                assert len(message.body) <= MOST_BYTES
                assert message.text is not None
        except WireError:
            continue


@pytest.mark.parametrize(
    ("head", "said"),
    [
        ((b"HTTP", 1, 7, 0, 8), "begins with b'HTTP'"),
        ((b"FFSW", 2, 7, 0, 8), "version 2, this side speaks version 1"),
        ((b"FFSW", 1, 99, 0, 8), "no kind of message 99"),
        ((b"FFSW", 1, 7, 0, MOST_BYTES + 8), "are permitted"),
        ((b"FFSW", 1, 7, 0, 2**63), "are permitted"),
        ((b"FFSW", 1, 7, 0, 9), "no multiple of 8"),
    ],
)
def test_a_header_is_judged_before_anything_is_kept(head, said) -> None:
    decoder = Decoder()
    decoder.feed(struct.pack("<4sHHQQ", *head))
    with pytest.raises(WireError, match=said):
        decoder.next_message()


def test_what_is_too_long_is_not_sent() -> None:
    with pytest.raises(WireError, match="too long"):
        encode(Kind.HELLO, 0, b"x" * (MOST_BYTES + 1))


def test_a_connection_has_deadlines() -> None:
    a, b = socket.socketpair()
    here, there = SocketConnection(a), SocketConnection(b)
    with pytest.raises(TimeoutError):
        here.receive(0.0)
    with pytest.raises(TimeoutError):
        here.receive(0.01)
    there.send(Kind.ANSWER, 1, np.ones(2))
    assert here.receive(0.0).numbers.tolist() == [1.0, 1.0]
    there.close()
    with pytest.raises(ConnectionError, match="was closed"):
        here.receive(1.0)
    here.close()


@pytest.mark.parametrize("address", ["tcp:192.168.1.4:5000", "tcp:0.0.0.0:5000", "tcp:[::]:5000", "tcp:example.org:80"])
def test_other_machines_are_not_listened_to(address) -> None:
    with pytest.raises(ContractError, match=r"is not on this machine|is no address of this machine"):
        make_socket(address)


@pytest.mark.parametrize("address", ["", "unix:", "tcp:127.0.0.1:", "tcp:127.0.0.1:99999", "udp:127.0.0.1:1", "/tmp/x"])
def test_what_is_no_address(address) -> None:
    with pytest.raises(ContractError, match="is no address"):
        make_socket(address)


def test_a_socket_left_behind_is_replaced_and_a_file_is_not(tmp_path) -> None:
    listener, address = open_listener(f"unix:{tmp_path}/s")
    assert (tmp_path / "s").stat().st_mode & 0o077 == 0  # nobody else may connect
    with pytest.raises(ContractError, match="Nobody can be waited for"):
        open_listener(address)
    listener.close()
    again, _ = open_listener(address)
    again.close()
    (tmp_path / "file").write_text("kept")
    with pytest.raises(ContractError, match="Nobody can be waited for"):
        open_listener(f"unix:{tmp_path}/file")
    assert (tmp_path / "file").read_text() == "kept"
    with pytest.raises(ContractError, match="at most 100 bytes"):
        make_socket("unix:/" + 100 * "x")
