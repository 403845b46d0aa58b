#!/usr/bin/python3
"""mongodb_gateway.py - the MongoDB wire protocol in front of DocumentDB, an extension of PostgreSQL, for tests.

    mongodb_gateway.py [--fail COMMAND:CODE:N] [--transaction-seconds N] FACE:PORT ... DSN

DocumentDB stores BSON and has MongoDB's operators, indexes and cursors; this program carries commands to it, and
adds what a driver takes for granted: sessions, retried writes that are applied once, transactions, change streams
and failpoints. It listens on loopback only, and asks for no password.

A FACE is how the server presents itself at a port:

    replica     a replica set of one member, rs0
    standalone  a single server: it has neither transactions nor change streams
    mongos      the router of a sharded cluster
    old         a replica set of MongoDB 3.6, which has no transactions

A transaction is one of PostgreSQL, at REPEATABLE READ. A serialisation failure, a deadlock and a lock not obtained
within 100 ms are WriteConflict (112) with the label TransientTransactionError. It ends after --transaction-seconds
without a command (60). Its number is written with it: a commit asked for again answers as the first one did, also
after a crash of the gateway.

--fail COMMAND:CODE:N answers the N-th COMMAND with the error CODE, once. CODE `lost` runs it and cuts the connection,
`cut` only cuts the connection, `transient` and `unknown` answer with the labels of those names. It may be repeated; each
time that it comes the line `fault: COMMAND` is on standard output.

While it runs, tests use MongoDB's configureFailPoint: failCommand. Beside MongoDB's fields it has

    mode {skip: N, times: M}        both together
    data.afterwards true            the command is run, then the fault comes: {closeConnection: true,
                                    afterwards: true} is a lost answer
    data.closeCursor true           the reply's cursor is over with it
    data.appName                    each name has a failpoint of its own, so tests at the same time do not meet

The reply's `count` is how often the failpoint that is replaced was entered.

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import datetime
import os
import socketserver
import sys
import threading
import time

import psycopg2

import mongodb_engine as engine
import mongodb_wire as wire
from mongodb_faults import FAULTS, Fault

VERSION, OLD_VERSION = "7.0.0", "3.6.23"
TRANSIENT = "TransientTransactionError"
RETRYABLE = frozenset((6, 7, 89, 91, 189, 262, 9001, 10107, 11600, 11602, 13435, 13436))


class Cut(Exception):
    """The connection ends here."""


def error(code, text, name="", labels=()):
    reply = {"ok": 0.0, "code": code, "codeName": name or f"Location{code}", "errmsg": text}
    return dict(reply, errorLabels=list(labels)) if labels else reply


def hello(face, port):
    reply = {"ismaster": True, "isWritablePrimary": True, "helloOk": True, "maxBsonObjectSize": 16 << 20,
             "maxMessageSizeBytes": 48000000, "maxWriteBatchSize": 100000, "minWireVersion": 0,
             "maxWireVersion": 6 if face == "old" else 21, "logicalSessionTimeoutMinutes": 30, "connectionId": 1,
             "readOnly": False, "localTime": datetime.datetime.utcnow(), "ok": 1.0}
    if face == "mongos":
        reply["msg"] = "isdbgrid"
    elif face != "standalone":
        here = f"127.0.0.1:{port}"
        reply.update(setName="rs0", setVersion=1, hosts=[here], me=here, primary=here, secondary=False)
    return reply


def said_by_itself(face, verb):
    """The replies that need no engine; None for the other commands."""
    version = OLD_VERSION if face == "old" else VERSION
    if verb in ("buildInfo", "buildinfo"):
        return {"version": version, "versionArray": [int(part) for part in version.split(".")] + [0],
                "bits": 64, "maxBsonObjectSize": 16 << 20, "ok": 1.0}
    if verb == "getParameter":
        return {"featureCompatibilityVersion": {"version": version[:3]}, "ok": 1.0}
    if verb == "getDefaultRWConcern":
        return {"defaultReadConcern": {"level": "local"}, "defaultWriteConcern": {"w": "majority", "wtimeout": 0},
                "ok": 1.0}
    if verb == "serverStatus":
        return {"version": version, "process": "mongod", "localTime": datetime.datetime.utcnow(), "ok": 1.0}
    if verb == "connectionStatus":
        return {"authInfo": {"authenticatedUsers": [], "authenticatedUserRoles": [], "authenticatedUserPrivileges": []},
                "ok": 1.0}
    if verb in ("ping", "endSessions", "refreshSessions", "logApplicationMessage"):
        return {"ok": 1.0}
    return None


class Session(socketserver.BaseRequestHandler):
    """One connection of a driver."""

    def setup(self):
        self.app = ""
        self.cursors = set()

    def finish(self):
        for number in self.cursors:
            engine.close_cursor(number)

    def receive(self, size):
        data = bytearray()
        while len(data) < size:
            part = self.request.recv(min(size - len(data), 1 << 20))
            if not part:
                raise Cut
            data += part
        return bytes(data)

    def handle(self):
        try:
            while True:
                length, request, _, operation = wire.struct.unpack("<iiii", self.receive(16))
                body = self.receive(length - 16)
                if operation == wire.OP_QUERY:
                    self.request.sendall(wire.query_reply(request, self.answer(wire.parse_query(body))))
                    continue
                if operation != wire.OP_MSG:
                    raise Cut
                flags, command = wire.parse_message(body)
                reply = self.answer(command)
                if not flags & wire.MORE_TO_COME:  # with w:0 the client wants no reply
                    self.request.sendall(wire.message(request, reply))
        except (Cut, OSError):
            return

    def answer(self, command):
        """The reply's bytes."""
        if command.verb in ("hello", "ismaster", "isMaster"):
            client = command.fields().get("client") or {}
            self.app = (client.get("application") or {}).get("name", self.app)
            return wire.encode(hello(self.server.face, self.server.server_address[1]))
        if command.verb == "configureFailPoint":
            return wire.encode(FAULTS.configure(command.fields()))
        fault = FAULTS.take(command, self.app)
        if fault is None:
            return as_bytes(self.run(command))
        if fault.delay * 1000 > command.fields().get("maxTimeMS", float("inf")):
            time.sleep(command.fields()["maxTimeMS"] / 1000)
            return as_bytes(error(50, "operation exceeded time limit", "MaxTimeMSExpired"))
        time.sleep(fault.delay)
        if fault.before:
            return as_bytes(self.broken(fault, command))
        reply = self.run(command)
        return as_bytes(self.broken(fault, command) if fault.breaks else fault.mark(reply))

    @staticmethod
    def broken(fault, command):
        """The answer of a server that fails here: none, or an error with the labels that it would carry."""
        if fault.cuts:
            raise Cut
        labels, control = fault.labels, command.control
        if labels is None and fault.code in RETRYABLE:
            of_transaction = control.get("autocommit") is False and command.verb not in (
                "commitTransaction", "abortTransaction")
            labels = [TRANSIENT] if of_transaction else ["RetryableWriteError"] if "txnNumber" in control else []
        return error(fault.code, f"Failing command via 'failCommand' failpoint: {command.verb}", labels=labels or ())

    def run(self, command):
        face = self.server.face
        if "txnNumber" in command.control and face in ("standalone", "old"):
            return error(20, "Transaction numbers are only allowed on a replica set member or mongos",
                         "IllegalOperation")
        if face == "standalone" and engine.is_change_stream(command):
            return error(40573, "The $changeStream stage is only supported on replica sets")
        reply = said_by_itself(face, command.verb)
        if reply is not None:
            return reply
        try:
            return engine.run(command, self.cursors)
        except (KeyError, TypeError, ValueError) as problem:  # a command of a form that is unknown here
            return error(9, f"{command.verb}: {type(problem).__name__} {problem}", "FailedToParse")
        except psycopg2.Error:  # the engine is gone
            raise Cut from None


def as_bytes(reply):
    return reply if isinstance(reply, bytes) else wire.encode(reply)


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, face, port):
        self.face = face
        super().__init__(("127.0.0.1", port), Session)


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--fail", action="append", default=[])
    arguments.add_argument("--transaction-seconds", type=int, default=60)
    arguments.add_argument("faces", nargs="+")
    arguments.add_argument("dsn")
    options = arguments.parse_args()
    for text in options.fail:
        FAULTS.add(Fault.of_option(text))
    engine.open_engine(options.dsn, options.transaction_seconds)
    servers = [Server(face, int(port)) for face, port in (text.split(":") for text in options.faces)]
    threads = [threading.Thread(target=server.serve_forever, daemon=True) for server in servers]
    for thread in threads:
        thread.start()
    print("listening", flush=True)
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    try:
        main()
    except (OSError, psycopg2.Error) as problem:
        sys.exit(f"{os.path.basename(__file__)}: {problem}")
