"""The failpoints of the gateway: failCommand as MongoDB has it, and the option --fail.

SPDX-License-Identifier: Apache-2.0
"""
import threading


class Fault:
    """When it comes (after `skip` commands, `times` times), to which commands, and what it does."""

    def __init__(self, mode, data):
        self.verbs = data.get("failCommands", [])
        self.app = data.get("appName", "")
        self.namespace = data.get("namespace", "")
        self.skip, self.times = mode.get("skip", 0), mode.get("times", -1)
        self.code = data.get("errorCode")
        self.labels = data.get("errorLabels")
        self.concern = data.get("writeConcernError")
        self.ends = bool(data.get("closeCursor"))
        self.cuts = bool(data.get("closeConnection"))
        self.delay = data.get("blockTimeMS", 0) / 1000 if data.get("blockConnection") else 0
        self.breaks = self.cuts or self.code is not None
        self.before = self.breaks and not data.get("afterwards")
        self.entered = 0

    @classmethod
    def of_option(cls, text):
        """COMMAND:CODE:N"""
        verb, code, number = text.split(":")
        data = {"failCommands": [verb]}
        if code in ("lost", "cut"):
            data.update(closeConnection=True, afterwards=code == "lost")
        elif code in ("transient", "unknown"):
            label = "TransientTransactionError" if code == "transient" else "UnknownTransactionCommitResult"
            data.update(errorCode=91, errorLabels=[label])
        else:
            data.update(errorCode=int(code))
        return cls({"skip": int(number) - 1, "times": 1}, data)

    def concerns(self, command, app):
        if command.verb not in self.verbs or (self.app and self.app != app):
            return False
        if not self.namespace:
            return True
        return self.namespace == f"{command.database}.{command.target}"

    def comes(self):
        """Counts a command that it concerns; whether this is one of those that it strikes."""
        if self.skip > 0:
            self.skip -= 1
            return False
        if self.times == 0:
            return False
        self.times -= 1
        self.entered += 1
        return True

    def mark(self, reply):
        """The reply of a command that was run, with the trouble of its write concern, or with a cursor that is over."""
        if self.concern is None and not self.ends:
            return reply
        if isinstance(reply, bytes):
            import mongodb_wire
            reply = mongodb_wire.decode(reply)
        if self.ends:
            return dict(reply, cursor=dict(reply["cursor"], id=0))
        reply = dict(reply, writeConcernError=self.concern)
        return dict(reply, errorLabels=list(self.labels)) if self.labels else reply


class Faults:
    def __init__(self):
        self.lock = threading.Lock()
        self.by_app = {}
        self.of_options = []

    def add(self, fault):
        self.of_options.append(fault)

    def configure(self, fields):
        if fields["configureFailPoint"] != "failCommand":
            return {"ok": 0.0, "code": 9, "codeName": "FailedToParse",
                    "errmsg": f"failpoint {fields['configureFailPoint']} is not here: failCommand is"}
        mode, data = fields.get("mode", "off"), fields.get("data") or {}
        app = data.get("appName", "")
        with self.lock:
            old = self.by_app.pop(app, None)
            if mode != "off":
                self.by_app[app] = Fault({} if mode == "alwaysOn" else mode, data)
        return {"count": old.entered if old else 0, "ok": 1.0}

    def take(self, command, app):
        """The fault that strikes this command, else None."""
        with self.lock:
            for fault in [*self.of_options, *self.by_app.values()]:
                if fault.concerns(command, app) and fault.comes():
                    if fault in self.of_options:
                        print(f"fault: {command.verb}", flush=True)
                    return fault
        return None


FAULTS = Faults()
