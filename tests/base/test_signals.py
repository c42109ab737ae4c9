"""Signals: noted at once, acted on in good order, handlers put back."""

import os
import signal
import subprocess
import sys
import threading

import pytest

from aloex.base.signals import StopSignals, unwinding

# One call that takes a second or more, without the interpreter's lock, as compiled programs do:
# no handler runs before it returns.
BUSY = """
import hashlib
from aloex.base.signals import StopSignals
with StopSignals(on_first=lambda: print("told", flush=True)) as signals:
    print("busy", flush=True)
    hashlib.pbkdf2_hmac("sha256", b"", b"", 3_000_000)
    print("done", signals.number, flush=True)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_signal_is_told_and_remembered(number):
    told = threading.Event()
    before = signal.getsignal(number), signal.set_wakeup_fd(-1)
    with StopSignals(on_first=told.set) as signals:
        assert not signals.received and signals.number is None
        os.kill(os.getpid(), number)
        assert told.wait(10)
        assert signals.received and signals.number == number
    assert signal.getsignal(number) is before[0] and signal.set_wakeup_fd(-1) == before[1]


def test_without_a_signal_nothing_is_told():
    told = []
    with StopSignals(on_first=lambda: told.append(1)):
        pass
    assert told == []


def test_it_is_told_while_the_main_thread_is_in_a_long_call():
    with subprocess.Popen([sys.executable, "-c", BUSY], stdout=-1, text=True) as child:
        assert child.stdout is not None and child.stdout.readline() == "busy\n"
        child.send_signal(signal.SIGINT)
        assert child.communicate(timeout=60)[0] == f"told\ndone {int(signal.SIGINT)}\n"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_an_end_from_outside_cleans_up_first(number):
    cleaned = []
    with pytest.raises(SystemExit) as end, unwinding():
        try:
            os.kill(os.getpid(), number)
        finally:
            os.kill(os.getpid(), number)  # a second one changes nothing
            cleaned.append(True)
    assert end.value.code == 128 + number and cleaned == [True]
    assert signal.getsignal(number) is signal.SIG_DFL


def test_what_is_ignored_stays_ignored():
    """As under nohup."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with unwinding():
            os.kill(os.getpid(), signal.SIGHUP)
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def test_in_a_thread_nothing_changes():
    def enter():
        with unwinding():
            seen.append(signal.getsignal(signal.SIGTERM))

    seen, before = [], signal.getsignal(signal.SIGTERM)
    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    assert seen == [before]
