# Process 1 of a sandbox container: does what the host asks in frames. The protocol is in README.md beside this file.
MAIN_AT_START = dict(globals())
import sys

# To run a command, not to run a script, 3.13 and later import linecache, and keep the source in it.
if sys.version_info >= (3, 13) and next(reversed(sys.modules)) == "linecache":
    del sys.modules["linecache"]
MODULES_AT_START = dict(sys.modules)
IMPORTERS_AT_START = set(sys.path_importer_cache) - ({sys.modules["os"].getcwd()} - set(sys.path))
# A planted json.py in the workspace must not be imported by the agent; and warnings blame this name, not __main__.
sys.path[:1] = [entry for entry in sys.path[:1] if entry]
__name__ = "glovebox"

import builtins, os, time
import _signal as signal
import _thread

CODE = sys._getframe().f_code
FRAME_MAX, CHUNK, OUTBOX_HIGH, INBOX_HIGH = 1 << 20, 65536 - 5, 256 << 10, 4 << 20
SIGNALS = set(signal.valid_signals()) - {signal.SIGKILL, signal.SIGSTOP}
PR_SET_DUMPABLE, PR_SET_MM, PR_SET_MM_MAP = 4, 35, 14
NO_PROGRAM, ENOEXEC = (FileNotFoundError, PermissionError, NotADirectoryError, ValueError), 8
BOOTSTRAP_FILE = "<frozen importlib._bootstrap>"
