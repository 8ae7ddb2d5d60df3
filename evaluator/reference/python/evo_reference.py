"""Computes the right answers of a task by the user's Python file, one request after another.

A worker starts it with two pipes. Messages are as evaluator/workers/protocol.h describes them. The first one has the text of the
file and what its function takes and returns, and is answered when the file can be used. Each later one has the contents of the
inputs and is answered by the outputs as doubles, or by one line that says what is wrong, with the line of the user's file.
Program text is taken from the first message only: whatever else reaches the pipe is numbers.
"""
import faulthandler
import json
import os
import resource
import signal
import struct
import sys
import time

sys.path.pop(0)  # this folder; a module of the user's may have the name of one here
_HERE = os.path.dirname(os.path.abspath(__file__))

MOST_WORDS = 1 << 16  # bytes of standard error that are kept
GRACE_S = 3  # from a deadline to the end of a process that does not meet it in Python code


class Pipe:
    """The two pipes, which no other code finds at the descriptors 0 and 1."""

    def __init__(self):
        self._in = os.fdopen(os.dup(0), 'rb')
        self._out = os.fdopen(os.dup(1), 'wb')
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.dup2(2, 1)  # what the user prints
        os.close(null)

    def _read(self, count):
        data = bytearray(count)
        view = memoryview(data)
        while view:
            got = self._in.readinto(view)
            if not got:
                sys.exit(0)
            view = view[got:]
        return data

    def receive(self):
        magic, header_bytes, _ = struct.unpack('<4sIQ', self._read(16))
        if magic != b'EVO1':
            sys.exit('not a message of evo')
        header = json.loads(self._read(header_bytes))
        return header, [self._read(size) for size in header.get('bodies', [])]

    def send(self, header, bodies=()):
        header = dict(header, bodies=[len(body) for body in bodies])
        text = json.dumps(header).encode()
        self._out.write(struct.pack('<4sIQ', b'EVO1', len(text), sum(header['bodies'])))
        self._out.write(text)
        for body in bodies:
            self._out.write(body)
        self._out.flush()


class TookTooLong(BaseException):
    """Raised in the middle of the user's code. No Exception, so that `except Exception` does not catch it."""


class Deadline:
    """Ends what takes longer: Python code by TookTooLong, anything else with the whole process."""

    def __init__(self, milliseconds):
        self.seconds = milliseconds / 1000

    def __enter__(self):
        signal.signal(signal.SIGALRM, self._late)
        signal.setitimer(signal.ITIMER_REAL, self.seconds)
        faulthandler.dump_traceback_later(self.seconds + GRACE_S, exit=True)

    def __exit__(self, *_):
        signal.setitimer(signal.ITIMER_REAL, 0)
        faulthandler.cancel_dump_traceback_later()

    def _late(self, *_):
        raise TookTooLong(f'no answer within {self.seconds:g} s; an endless loop, or a case that is too large')


def forget_old_words():
    if os.fstat(2).st_size > MOST_WORDS:
        os.ftruncate(2, 0)
        os.lseek(2, 0, os.SEEK_SET)


def attempt(work, deadline, errors, *arguments):
    """The result of work(*arguments), and the line that says what went wrong, one of them None."""
    try:
        with deadline:
            return work(*arguments), None
    except BaseException as error:  # sys.exit() in the user's code is an error, too
        return None, errors.describe(error)


def main():
    pipe = Pipe()
    faulthandler.enable()
    init, _ = pipe.receive()
    resource.setrlimit(resource.RLIMIT_DATA, (init['memory_bytes'], init['memory_bytes']))
    sys.path.append(_HERE)
    import evo_reference_file
    sys.path.remove(_HERE)
    errors = evo_reference_file.Errors(init['file'], init['memory_bytes'])
    function, error = attempt(evo_reference_file.load, Deadline(init['start_ms']), errors, init)
    pipe.send({'error': error} if error else {})
    while not error:
        header, bodies = pipe.receive()
        forget_old_words()
        start = time.perf_counter()
        answers, wrong = attempt(function.answers, Deadline(init['answer_ms']), errors, header, bodies)
        if wrong:
            pipe.send({'error': wrong})
        else:
            pipe.send({'ms': 1000 * (time.perf_counter() - start)}, answers)


if __name__ == '__main__':
    main()
