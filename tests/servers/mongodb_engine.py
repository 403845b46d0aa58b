"""DocumentDB behind the gateway: commands as calls of its functions, sessions, transactions, cursors, change streams.

SPDX-License-Identifier: Apache-2.0
"""
import re
import threading
import time

import bson
import psycopg2

import mongodb_wire as wire

TRANSIENT = "TransientTransactionError"
# serialization_failure, deadlock_detected, lock_not_available
CONFLICTS = ("40001", "40P01", "55P03")
CONFLICT_TEXT = re.compile(r"could not serialize access|deadlock detected|lock timeout|concurrent update", re.I)
NOT_MADE = "Unable to create the specified collection"
# DocumentDB's SQLSTATEs of MongoDB's codes, as far as a test looks at them; of the others the code is InternalError.
CODES = {"57014": 50, "M0001": 2, "M0009": 27, "M000F": 48, "M000R": 85, "M000S": 86, "M0016": 263, "M00CO": 121,
         "M003A": 17419}
LOST_TRANSACTION = {"ok": 0.0, "code": 251, "codeName": "NoSuchTransaction", "errmsg": "the transaction is not there",
                    "errorLabels": [TRANSIENT]}
SET_UP = """
CREATE SCHEMA IF NOT EXISTS gateway;
CREATE TABLE IF NOT EXISTS gateway.committed (session text, number bigint, at timestamptz DEFAULT now(),
    PRIMARY KEY (session, number));
DELETE FROM gateway.committed WHERE at < now() - interval '1 hour';
"""
TRIES = 20


class Engine:
    dsn = ""
    seconds = 60
    idle = []
    lock = threading.Lock()
    definitions = threading.Lock()  # two that create the same thing at once fail in PostgreSQL, not in MongoDB


def open_engine(dsn, seconds):
    Engine.dsn, Engine.seconds = dsn, seconds
    connection = borrow()
    execute(connection, SET_UP)
    give_back(connection)


def borrow():
    with Engine.lock:
        while Engine.idle:
            connection = Engine.idle.pop()
            if not connection.closed:
                return connection
    connection = psycopg2.connect(Engine.dsn)
    connection.autocommit = True
    execute(connection, "SET client_min_messages = error")
    return connection


def give_back(connection, last_words=None):
    try:
        if last_words and not connection.closed:
            execute(connection, last_words)
        if not connection.closed and connection.info.transaction_status != psycopg2.extensions.TRANSACTION_STATUS_IDLE:
            execute(connection, "ROLLBACK")
    except psycopg2.Error:
        connection.close()
    if not connection.closed:
        with Engine.lock:
            Engine.idle.append(connection)


def execute(connection, sql, *arguments):
    with connection.cursor() as cursor:
        cursor.execute(sql, arguments or None)
        return cursor.fetchone() if cursor.description else None


def reply_of(row):
    return bytes(row[0]) if row and row[0] is not None else wire.encode({"ok": 1.0})


# --- commands as calls -------------------------------------------------------------------------------------------

def call(sql):
    """A command whose arguments are the database and the command."""
    def run(connection, command, _cursors):
        return reply_of(execute(connection, sql, command.database, command.body))
    return run


def call_body(sql):
    def run(connection, command, _cursors):
        return reply_of(execute(connection, sql, wire.wrap(command.body[4:-1] + wire.encode(
            {"$db": command.database})[4:-1])))
    return run


def count(connection, command, cursors):
    # Without a condition DocumentDB answers with an estimate of the last analysis.
    fields = command.fields()
    if not fields.get("query"):
        fields["query"] = {"_id": {"$gte": bson.MinKey()}}
    sql = "SELECT documentdb_api.count_query(%s, %s::bytea::documentdb_core.bson)::bytea"
    return reply_of(execute(connection, sql, command.database, wire.encode(fields)))


def write(function):
    # The procedures of the same names commit on their own; the functions join the caller's transaction. Validators are
    # for inserts alone: an update of many under one does not look again at a document that it waited for.
    validates = "on" if function == "insert" else "off"
    return call(f"SET LOCAL documentdb.enableSchemaValidation = {validates}; SELECT p_result::bytea "
                f"FROM documentdb_api.{function}(%s, %s::bytea::documentdb_core.bson)")


def create_indexes(connection, command, _cursors):
    # Built at once: DocumentDB's own command leaves it to a background job.
    row = execute(connection, "SELECT documentdb_api_internal.create_indexes_non_concurrently("
                  "%s, %s::bytea::documentdb_core.bson, true)::bytea", command.database, command.body)
    return reply_of(row)


def drop(connection, command, _cursors):
    row = execute(connection, "SELECT documentdb_api.drop_collection(%s, %s)", command.database, command.target)
    if not row[0]:
        return {"ok": 0.0, "code": 26, "codeName": "NamespaceNotFound", "errmsg": "ns not found"}
    return {"ns": f"{command.database}.{command.target}", "ok": 1.0}


def drop_database(connection, command, _cursors):
    execute(connection, "SELECT documentdb_api.drop_database(%s)", command.database)
    return {"dropped": command.database, "ok": 1.0}


def drop_indexes(connection, command, _cursors):
    execute(connection, "CALL documentdb_api.drop_indexes(%s, %s::bytea::documentdb_core.bson)", command.database,
            command.body)
    return {"ok": 1.0}


def collection_statistics(connection, command, _cursors):
    row = execute(connection, "SELECT documentdb_api.coll_stats(%s, %s)::bytea", command.database,
                  command.target)
    return reply_of(row)


def database_statistics(connection, command, _cursors):
    return reply_of(execute(connection, "SELECT documentdb_api.db_stats(%s)::bytea", command.database))


def change_collection(connection, command, _cursors):
    row = execute(connection, "SELECT documentdb_api.coll_mod(%s, %s, %s::bytea::documentdb_core.bson)::bytea",
                  command.database, command.target, command.body)
    return reply_of(row)


# --- cursors -----------------------------------------------------------------------------------------------------

class Cursor:
    """A cursor's continuation, and the connection that holds its portal; in a transaction that is the transaction's."""
    open = {}

    def __init__(self, continuation, connection):
        self.continuation, self.connection = continuation, connection


def close_cursor(number):
    ChangeStream.open.pop(number, None)
    Rest.open.pop(number, None)
    with Engine.lock:
        cursor = Cursor.open.pop(number, None)
    if cursor is not None and cursor.connection is not None:
        give_back(cursor.connection, "CLOSE ALL")


def first_page(function):
    sql = (f"SELECT cursorpage::bytea, continuation::bytea, cursorid "
           f"FROM documentdb_api.{function}(%s, %s::bytea::documentdb_core.bson)")

    def run(connection, command, cursors):
        alone = connection.info.transaction_status == psycopg2.extensions.TRANSACTION_STATUS_IDLE
        page, continuation, number = execute(connection, sql, command.database, command.body)
        if number:
            Cursor.open[number] = Cursor(continuation, connection if alone else None)
            cursors.add(number)
        return bytes(page)
    return run


class Rest:
    """Collections behind those of the first answer: DocumentDB lists them all, whatever the size of a batch."""
    open = {}
    last = 1 << 41


def list_collections(connection, command, cursors):
    reply = wire.decode(first_page("list_collections_cursor_first_page")(connection, command, cursors))
    cursor, most = reply["cursor"], command.fields().get("cursor", {}).get("batchSize", 101)
    if len(cursor["firstBatch"]) > most:
        with Engine.lock:
            Rest.last += 1
            number = Rest.last
        Rest.open[number] = cursor["firstBatch"][most:]
        cursors.add(number)
        cursor.update(id=bson.Int64(number), firstBatch=cursor["firstBatch"][:most])
    return reply


def get_more(connection, command, cursors):
    number = command.target
    if number in Rest.open:
        return {"cursor": {"id": bson.Int64(0), "ns": f"{command.database}.$cmd.listCollections",
                           "nextBatch": Rest.open.pop(number)}, "ok": 1.0}
    cursor = Cursor.open.get(number)
    if cursor is None:
        return {"ok": 0.0, "code": 43, "codeName": "CursorNotFound", "errmsg": f"cursor id {number} not found"}
    page, continuation = execute(
        cursor.connection or connection,
        "SELECT cursorpage::bytea, continuation::bytea FROM documentdb_api.cursor_get_more("
        "%s, %s::bytea::documentdb_core.bson, %s::bytea::documentdb_core.bson)",
        command.database, command.body, cursor.continuation)
    if continuation is None:
        close_cursor(number)
        cursors.discard(number)
    else:
        cursor.continuation = continuation
    return bytes(page)


def kill_cursors(_connection, command, cursors):
    numbers = command.fields()["cursors"]
    for number in numbers:
        close_cursor(number)
        cursors.discard(number)
    return {"cursorsKilled": numbers, "cursorsNotFound": [], "cursorsAlive": [], "cursorsUnknown": [], "ok": 1.0}


BY_DATABASE = "SELECT documentdb_api.{}(%s, %s::bytea::documentdb_core.bson)::bytea"
BY_BODY = "SELECT documentdb_api.{}(%s::bytea::documentdb_core.bson)::bytea"
READS = {
    "find": first_page("find_cursor_first_page"), "aggregate": first_page("aggregate_cursor_first_page"),
    "listCollections": list_collections,
    "listIndexes": first_page("list_indexes_cursor_first_page"), "getMore": get_more, "killCursors": kill_cursors,
    "count": count, "distinct": call(BY_DATABASE.format("distinct_query")),
    "validate": call(BY_DATABASE.format("validate")), "collStats": collection_statistics,
    "collstats": collection_statistics, "dbStats": database_statistics, "dbstats": database_statistics,
    "listDatabases": call_body(BY_BODY.format("list_databases")),
    "usersInfo": call_body(BY_BODY.format("users_info")), "currentOp": call_body(BY_BODY.format("current_op_command")),
}
WRITES = {
    "insert": write("insert"), "update": write("update"), "delete": write("delete"),
    "findAndModify": write("find_and_modify"), "findandmodify": write("find_and_modify"),
}
DEFINITIONS = {
    "create": call(BY_DATABASE.format("create_collection_view")), "createIndexes": create_indexes, "drop": drop,
    "dropDatabase": drop_database, "dropIndexes": drop_indexes, "collMod": change_collection,
    "renameCollection": call_body(BY_BODY.format("rename_collection")),
}


# --- transactions ------------------------------------------------------------------------------------------------

class Transaction:
    """The one transaction that a session may have open."""
    open = {}  # session -> Transaction

    def __init__(self, number):
        self.number, self.connection, self.changed = number, borrow(), []
        execute(self.connection, "BEGIN ISOLATION LEVEL REPEATABLE READ; SET LOCAL lock_timeout = '100ms'; "
                f"SET LOCAL idle_in_transaction_session_timeout = '{Engine.seconds}s'")


def session_of(command):
    return bytes(command.control["lsid"]["id"]).hex()


def forget(session, number=None):
    """Rolls the session's transaction back; of another number than this, it stays."""
    with Engine.lock:
        transaction = Transaction.open.get(session)
        if transaction is None or number not in (None, transaction.number):
            return None
        del Transaction.open[session]
    give_back(transaction.connection)
    return transaction


def transaction_of(command):
    session, number = session_of(command), command.control["txnNumber"]
    if command.control.get("startTransaction"):
        forget(session)
        transaction = Transaction(number)
        with Engine.lock:
            Transaction.open[session] = transaction
        return transaction
    transaction = Transaction.open.get(session)
    return transaction if transaction is not None and transaction.number == number else None


def commit(session, number):
    with Engine.lock:
        transaction = Transaction.open.get(session)
        if transaction is not None and transaction.number == number:
            del Transaction.open[session]
        else:
            transaction = None
    connection = transaction.connection if transaction is not None else borrow()
    try:
        if transaction is None:
            row = execute(connection, "SELECT 1 FROM gateway.committed WHERE session = %s AND number = %s",
                          session, number)
            return {"ok": 1.0} if row else LOST_TRANSACTION
        execute(connection, "INSERT INTO gateway.committed VALUES (%s, %s)", session, number)
        execute(connection, "COMMIT")
        CHANGES.publish(transaction.changed)
        return {"ok": 1.0}
    finally:
        give_back(connection)


def end(command):
    session, number = session_of(command), command.control["txnNumber"]
    if command.verb == "commitTransaction":
        return commit(session, number)
    return {"ok": 1.0} if forget(session, number) else LOST_TRANSACTION


# --- change streams ----------------------------------------------------------------------------------------------

class Changes:
    """What was written, in order. A change stream is told of these, of no document."""

    def __init__(self):
        self.condition = threading.Condition()
        self.events = []  # (database, collection, operation)

    def publish(self, changed):
        if changed:
            with self.condition:
                self.events += changed
                self.condition.notify_all()


CHANGES = Changes()
OPERATIONS = {"update": "update", "findAndModify": "update", "findandmodify": "update"}
MATCHES = ("SELECT %s::bytea::documentdb_core.bson OPERATOR(documentdb_api_catalog.@@) "
           "%s::bytea::documentdb_core.bson")


def change(command, reply):
    """What a stream is told of the command: an update that had to insert is an insert."""
    upserted = b"upserted\0" in reply
    return command.database, command.target, "insert" if upserted else OPERATIONS.get(command.verb, command.verb)


class ChangeStream:
    """Its stages behind the first: $match, which the engine decides, and $project of whole members."""
    open = {}
    last = 1 << 40

    def __init__(self, database, collection, at, stages):
        self.database, self.collection, self.at = database, collection, at
        self.matches = [stage["$match"] for stage in stages if "$match" in stage]
        self.kept = [stage["$project"] for stage in stages if "$project" in stage]

    def is_ended_by(self, event):
        database, collection, operation = event
        return database == self.database and (operation == "dropDatabase" or (operation, collection) == (
            "drop", self.collection))

    def wants(self, event):
        if event["ns"]["db"] != self.database or self.collection not in (1, event["ns"]["coll"]):
            return False
        connection = borrow()
        try:
            return all(execute(connection, MATCHES, wire.encode(event), wire.encode(match))[0]
                       for match in self.matches)
        finally:
            give_back(connection)

    def take(self, deadline):
        """(place, event) of what is new; none when nothing comes until the deadline."""
        with CHANGES.condition:
            if self.at == len(CHANGES.events):
                CHANGES.condition.wait(max(0, deadline - time.monotonic()))
            first, fresh = self.at, CHANGES.events[self.at:]
            self.at += len(fresh)
            return list(enumerate(fresh, first))

    def page(self, number, name, seconds):
        deadline, events, fresh, is_ended = time.monotonic() + seconds, [], [None], False
        while fresh and not events and not is_ended:
            fresh = self.take(deadline)
            is_ended = any(self.is_ended_by(event) for _, event in fresh)
            told = [{"_id": {"_data": f"{i + 1:016x}"}, "operationType": operation,
                     "ns": {"db": database, "coll": collection}, "documentKey": {"_id": i}}
                    for i, (database, collection, operation) in fresh]
            events = [event for event in told if self.wants(event)]
        for kept in self.kept:
            events = [{member: event[member] for member in event if member in kept} for event in events]
        if is_ended:
            ChangeStream.open.pop(number, None)
        return {"cursor": {"id": bson.Int64(0 if is_ended else number), "ns": f"{self.database}.{self.collection}",
                           name: events, "postBatchResumeToken": {"_data": f"{self.at:016x}"}}, "ok": 1.0}


def is_change_stream(command):
    return command.verb == "aggregate" and b"$changeStream\0" in command.body


def watch(command, cursors):
    fields = command.fields()
    stage = fields["pipeline"][0]["$changeStream"]
    token = stage.get("resumeAfter") or stage.get("startAfter")
    at = int(token["_data"], 16) if token else len(CHANGES.events)
    if at > len(CHANGES.events):
        return {"ok": 0.0, "code": 286, "codeName": "ChangeStreamHistoryLost",
                "errmsg": "the resume point is not in the log", "errorLabels": ["NonResumableChangeStreamError"]}
    with Engine.lock:
        ChangeStream.last += 1
        number = ChangeStream.last
    ChangeStream.open[number] = ChangeStream(command.database, command.target, at, fields["pipeline"][1:])
    cursors.add(number)
    return ChangeStream.open[number].page(number, "firstBatch", 0)


def watch_more(command):
    fields = command.fields()
    stream = ChangeStream.open.get(command.target)
    if stream is None:
        return None
    return stream.page(command.target, "nextBatch", fields.get("maxTimeMS", 1000) / 1000)


# --- running -----------------------------------------------------------------------------------------------------

def failure(problem):
    state, text = getattr(problem, "pgcode", None) or "", str(problem).strip().split("\n")[0]
    if state in CONFLICTS:
        return {"ok": 0.0, "code": 112, "codeName": "WriteConflict", "errmsg": text, "errorLabels": [TRANSIENT]}
    if state in ("23505", "23P01") or "duplicate key" in text.lower():
        return {"ok": 0.0, "code": 11000, "codeName": "DuplicateKey", "errmsg": "E11000 " + text}
    return {"ok": 0.0, "code": CODES.get(state, 1), "codeName": "InternalError", "errmsg": f"[{state}] {text}"}


def state_of(number):
    """The SQLSTATE that PostgreSQL keeps in this number, six bits for a letter."""
    return "".join(chr((number >> 6 * i & 0x3F) + 0x30) for i in range(5))


def corrected(reply):
    """(reply of a write with MongoDB's codes, whether it met another writer)."""
    if b"writeErrors\0" not in reply:
        return reply, False
    fields, met = wire.decode(reply), False
    for item in fields["writeErrors"]:
        met = met or CONFLICT_TEXT.search(item["errmsg"]) is not None
        item["code"] = CODES.get(state_of(item["code"]), item["code"])
        if item["errmsg"].startswith("Duplicate key violation"):
            item.update(code=11000, errmsg="E11000 duplicate key error: " + item["errmsg"])
    return wire.encode(fields), met


def in_transaction(command, cursors):
    transaction = transaction_of(command)
    if transaction is None:
        return LOST_TRANSACTION
    session = session_of(command)
    handler = READS.get(command.verb) or WRITES.get(command.verb) or DEFINITIONS.get(command.verb)
    if handler is None:
        return unknown(command)
    try:
        reply = handler(transaction.connection, command, cursors)
    except psycopg2.Error as problem:
        gone = transaction.connection.closed
        forget(session)
        return LOST_TRANSACTION if gone else failure(problem)
    if command.verb not in WRITES:
        return reply
    reply, met = corrected(reply)
    if met or b"writeErrors\0" in reply:
        forget(session)
    if met:
        return {"ok": 0.0, "code": 112, "codeName": "WriteConflict", "errmsg": "WriteConflict error",
                "errorLabels": [TRANSIENT]}
    transaction.changed.append(change(command, reply))
    return reply


def alone(command, cursors):
    """A command outside of a transaction. MongoDB repeats one that met another writer itself."""
    handler = READS.get(command.verb) or WRITES.get(command.verb)
    if handler is None:
        with Engine.definitions:
            reply = attempts(DEFINITIONS[command.verb], command, cursors)
        if not isinstance(reply, bytes) and reply["ok"]:
            CHANGES.publish([(command.database, command.target, command.verb)])
        return reply
    reply = attempts(handler, command, cursors)
    if command.verb in WRITES and isinstance(reply, bytes):
        CHANGES.publish([change(command, reply)])
    return reply


def attempts(handler, command, cursors):
    for left in reversed(range(TRIES)):
        connection = borrow()
        try:
            reply = handler(connection, command, cursors)
            met = False
            if command.verb in WRITES:
                reply, met = corrected(reply)
            if not (met and left):
                return reply
        except psycopg2.Error as problem:
            of_catalog = (problem.diag.schema_name or "").startswith("documentdb_api_catalog")
            # Just dropped, and remembered by this connection as long as it lives: another one makes the collection.
            if (problem.pgcode == "M0008" and command.verb == "createIndexes") or NOT_MADE in str(problem):
                of_catalog = True
                connection.close()
            if not left or not (problem.pgcode in CONFLICTS or of_catalog):
                return failure(problem)
        finally:
            if not any(cursor.connection is connection for cursor in list(Cursor.open.values())):
                give_back(connection)
    return None


class Retried:
    """Of each session the last write with a number, and its reply: the driver sends it again when none came."""
    last = {}


def unknown(command):
    return {"ok": 0.0, "code": 59, "codeName": "CommandNotFound", "errmsg": f"no such command: '{command.verb}'"}


def run(command, cursors):
    if command.verb in ("commitTransaction", "abortTransaction"):
        return end(command)
    if command.control.get("autocommit") is False:
        return in_transaction(command, cursors)
    if is_change_stream(command):
        return watch(command, cursors)
    if command.verb == "getMore":
        reply = watch_more(command)
        if reply is not None:
            return reply
    if not (command.verb in READS or command.verb in WRITES or command.verb in DEFINITIONS):
        return unknown(command)
    if "txnNumber" not in command.control or command.verb not in WRITES:
        return alone(command, cursors)
    session, number = session_of(command), command.control["txnNumber"]
    old = Retried.last.get(session)
    if old is not None and old[0] == number:
        return old[1]
    reply = alone(command, cursors)
    if isinstance(reply, bytes):
        Retried.last[session] = (number, reply)
    return reply
