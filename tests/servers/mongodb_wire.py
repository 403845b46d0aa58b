"""OP_MSG, the message of the MongoDB wire protocol, and the members of a BSON document.

A command's documents are carried as the bytes that came: what a decoder would change
(the subtype of a UUID, a date beyond the year 9999, a member written twice) stays as it was.

SPDX-License-Identifier: Apache-2.0
"""
import struct

import bson
from bson.binary import UuidRepresentation
from bson.codec_options import CodecOptions

OPTIONS = CodecOptions(uuid_representation=UuidRepresentation.UNSPECIFIED)
OP_REPLY, OP_QUERY, OP_MSG = 1, 2004, 2013
CHECKSUM, MORE_TO_COME = 1, 2
# Members that are the session's, or a driver's word to the server: the engine does not know them.
CONTROL = frozenset((
    "$db", "lsid", "txnNumber", "startTransaction", "autocommit", "$clusterTime", "$readPreference", "readConcern",
    "writeConcern", "apiVersion", "apiStrict", "apiDeprecationErrors", "stmtId", "recoveryToken"))
SIZES = {0x01: 8, 0x06: 0, 0x07: 12, 0x08: 1, 0x09: 8, 0x0A: 0, 0x10: 4, 0x11: 8, 0x12: 8, 0x13: 16, 0x7F: 0, 0xFF: 0}


def decode(document):
    return bson.decode(document, OPTIONS)


def encode(document):
    return bson.encode(document, codec_options=OPTIONS)


def wrap(members):
    return struct.pack("<i", len(members) + 5) + members + b"\0"


def value_size(kind, document, at):
    if kind in SIZES:
        return SIZES[kind]
    if kind == 0x0B:  # a regular expression is two texts that end with NUL
        return document.index(b"\0", document.index(b"\0", at) + 1) + 1 - at
    size = struct.unpack_from("<i", document, at)[0]
    return size + {0x02: 4, 0x0D: 4, 0x0E: 4, 0x05: 5, 0x0C: 16}.get(kind, 0)


def members(document):
    """(name, bytes of the member) of each member."""
    at, end = 4, len(document) - 1
    while at < end:
        stop = document.index(b"\0", at + 1)
        following = stop + 1 + value_size(document[at], document, stop + 1)
        yield document[at + 1:stop].decode(), document[at:following]
        at = following


def array(name, documents):
    """The member `name` that holds the documents as an array."""
    inside = b"".join(b"\x03%d\0" % i + document for i, document in enumerate(documents))
    return b"\x04" + name.encode() + b"\0" + wrap(inside)


class Command:
    """What a client asks for: its verb, its control members, and the rest as bytes."""

    def __init__(self, document, sequences=()):
        control, rest = [], []
        self.verb, self.target = "", None  # of most commands the value of the verb is the collection
        for name, member in members(document):
            if not self.verb:
                self.verb, self.target = name, decode(wrap(member))[name]
            (control if name in CONTROL else rest).append(member)
        rest += [array(name, documents) for name, documents in sequences]
        self.control = decode(wrap(b"".join(control)))
        self.database = self.control.get("$db", "admin")
        self.body = wrap(b"".join(rest))

    def fields(self):
        return decode(self.body)


def split(payload):
    """The documents that stand one after the other in the payload."""
    at = 0
    while at < len(payload):
        size = struct.unpack_from("<i", payload, at)[0]
        yield payload[at:at + size]
        at += size


def parse_message(body):
    """(flags, command) of the body of an OP_MSG."""
    flags = struct.unpack_from("<I", body)[0]
    at, end, document, sequences = 4, len(body) - (4 if flags & CHECKSUM else 0), b"", []
    while at < end:
        kind, size = struct.unpack_from("<Bi", body, at)
        section = body[at + 1:at + 1 + size]
        if kind == 0:
            document = section
        else:
            stop = section.index(b"\0", 4)
            sequences.append((section[4:stop].decode(), list(split(section[stop + 1:]))))
        at += 1 + size
    return flags, Command(document, sequences)


def parse_query(body):
    """The command of an OP_QUERY; only the first hello of a driver comes as such."""
    return Command(body[body.index(b"\0", 4) + 1 + 8:])


def message(request, document):
    return struct.pack("<iiiiIB", 21 + len(document), 1, request, OP_MSG, 0, 0) + document


def query_reply(request, document):
    return struct.pack("<iiiiiqii", 36 + len(document), 1, request, OP_REPLY, 8, 0, 0, 1) + document
