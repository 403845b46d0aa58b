#!/usr/bin/env python3
"""terminal.py COLUMNS LINES COMMAND ... - runs a command on a terminal and does what standard input says.

    expect REGEX    waits until the screen has a match; lines of it end with a line feed
    refuse REGEX    the screen has none
    keys TEXT       types it
    size COLUMNS LINES
    signal NAME     "TERM"; STOP is looked for by `stopped`
    stopped         waits until the process is stopped, and lets it go on
    run COMMAND     runs it in a shell, elsewhere; a failure of it is one of the test
    modes raw       keys come at once and unseen; `modes plain`: in lines, which are seen
    end CODE        waits until the command ended with the code; then the terminal must be as it was

The screen is what a terminal shows that knows the escapes which the command uses; another one is a
failure. Everything waits, bounded, and nothing sleeps.

SPDX-License-Identifier: Apache-2.0
"""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time

SECONDS = 60


class Screen:
    """The lines of both screens, and what was written beside them."""

    def __init__(self, columns, lines):
        self.columns, self.lines = columns, lines
        self.normal, self.other = {}, {}
        self.is_other, self.has_cursor = False, True
        self.row = self.column = 0
        self.rest = ""

    def cells(self):
        return self.other if self.is_other else self.normal

    def clear(self, row, column):
        for cell in [at for at in self.cells() if at >= (row, column)]:
            del self.cells()[cell]

    def escape(self, code):
        if code in ("?1049h", "?1049l"):
            self.is_other = code.endswith("h")
            self.row = self.column = 0
        elif code in ("?25h", "?25l"):
            self.has_cursor = code.endswith("h")
        elif code == "2J":
            self.clear(0, 0)
        elif code == "J":
            self.clear(self.row, self.column)
        elif code == "K":
            for cell in [at for at in self.cells() if at[0] == self.row and at[1] >= self.column]:
                del self.cells()[cell]
        elif code == "H":
            self.row = self.column = 0
        else:
            raise SystemExit(f"an escape that nobody knows: {code!r}")

    def write(self, text):
        text, self.rest = self.rest + text, ""
        while text:
            if text[0] == "\033":
                found = re.match(r"\033\[([?0-9;]*[A-Za-z])", text)
                if not found:
                    self.rest = text
                    return
                self.escape(found[1])
                text = text[found.end():]
                continue
            if text[0] == "\r":
                self.column = 0
            elif text[0] == "\n":
                self.row += 1
            else:
                self.cells()[self.row, self.column] = text[0]
                self.column += 1
            text = text[1:]

    def text(self):
        cells, rows = self.cells(), []
        for row in range(1 + max((at[0] for at in cells), default=-1)):
            columns = [at[1] for at in cells if at[0] == row]
            rows.append("".join(cells.get((row, column), " ")
                                for column in range(1 + max(columns, default=-1))).rstrip())
        return "\n".join(rows) + "\n"


class Terminal:
    def __init__(self, columns, lines, command):
        self.screen = Screen(columns, lines)
        self.code = None
        self.pid, self.master = pty.fork()
        if self.pid == 0:
            # The size is that of the terminal before the command asks for it.
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
            os.execvp(command[0], command)
        self.before = None

    def read(self, seconds):
        """False: there is nothing more to read."""
        if not select.select([self.master], [], [], seconds)[0]:
            return True
        try:
            data = os.read(self.master, 65536)
        except OSError:
            return False
        self.screen.write(data.decode())
        return bool(data)

    def wait(self, is_done, what):
        end = time.monotonic() + SECONDS
        while not is_done():
            if not self.read(0.02) and not is_done():
                self.fail(f"the command ended before {what}")
            if time.monotonic() > end:
                self.fail(f"{SECONDS} s without {what}")

    def fail(self, text):
        print(f"FAILED: {text}\n--- the screen\n{self.screen.text()}---")
        if self.code is None:
            os.kill(self.pid, signal.SIGKILL)
        sys.exit(1)

    def has(self, regex):
        return re.search(regex, self.screen.text(), re.MULTILINE) is not None

    def has_ended(self):
        if self.code is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid != 0:
                self.code = os.waitstatus_to_exitcode(status)
        return self.code is not None

    def is_stopped(self):
        pid, status = os.waitpid(self.pid, os.WNOHANG | os.WUNTRACED)
        return pid != 0 and os.WIFSTOPPED(status)

    # ---- What standard input may say

    def do_expect(self, rest):
        self.wait(lambda: self.has(rest), f"'{rest}'")
        self.fits()

    def fits(self):
        rows = self.screen.text().splitlines()
        if len(rows) > self.screen.lines or any(len(row) > self.screen.columns for row in rows):
            self.fail(f"the picture does not fit into {self.screen.columns} x {self.screen.lines}")

    def do_refuse(self, rest):
        if self.has(rest):
            self.fail(f"there is '{rest}'")

    def do_keys(self, rest):
        os.write(self.master, rest.encode().decode("unicode_escape").encode())

    def do_size(self, rest):
        self.screen.columns, self.screen.lines = map(int, rest.split())
        self.screen.clear(0, 0)
        fcntl.ioctl(self.master, termios.TIOCSWINSZ,
                    struct.pack("HHHH", self.screen.lines, self.screen.columns, 0, 0))

    def do_signal(self, rest):
        os.kill(self.pid, getattr(signal, "SIG" + rest))

    def do_stopped(self, _rest):
        self.wait(self.is_stopped, "a stop")
        self.wait(lambda: not self.screen.is_other, "the screen before, while it is stopped")
        os.kill(self.pid, signal.SIGCONT)

    def do_run(self, rest):
        done = subprocess.run(rest, shell=True, stdin=subprocess.DEVNULL, check=False)
        if done.returncode != 0:
            self.fail(f"exit code {done.returncode} of: {rest}")

    def do_end(self, rest):
        end = time.monotonic() + SECONDS
        while self.read(0.02) and time.monotonic() < end:
            pass
        while not self.has_ended() and time.monotonic() < end:
            select.select([], [], [], 0.01)
        if self.code != int(rest):
            self.fail(f"exit code {self.code} instead of {rest}")
        if self.screen.is_other or not self.screen.has_cursor:
            self.fail("the screen before is not back, or has no cursor")

    def do_modes(self, rest):
        flags = termios.ICANON | termios.ECHO
        wanted = flags if rest == "plain" else 0
        self.wait(lambda: termios.tcgetattr(self.master)[3] & flags == wanted, f"{rest} modes")


def main():
    terminal = Terminal(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
    for line in sys.stdin:
        word, _, rest = line.rstrip("\n").partition(" ")
        if word:
            getattr(terminal, "do_" + word)(rest)
    if not terminal.has_ended():
        terminal.fail("the command has not ended")


main()
