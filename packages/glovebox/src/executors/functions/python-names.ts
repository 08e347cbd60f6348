import { GloveboxError } from "../../core/index.ts"
import { describe } from "../../internal/describe.ts"

const KEYWORDS = words(`
  False None True and as assert async await break class continue def del elif else except finally for from
  global if import in is lambda nonlocal not or pass raise return try while with yield
`)

// The standard library of Python 3.8 to 3.14, and what the interpreter or pip loads by name.
const TAKEN_MODULES = words(`
  abc aifc annotationlib antigravity argparse array ast asynchat asyncio asyncore atexit audioop base64 bdb
  binascii bisect builtins bz2 cprofile calendar cgi cgitb chunk cmath cmd code codecs codeop collections
  colorsys compileall compression concurrent configparser contextlib contextvars copy copyreg crypt csv
  ctypes curses dataclasses datetime dbm decimal difflib dis distutils doctest email encodings ensurepip
  enum errno faulthandler fcntl filecmp fileinput fnmatch fractions ftplib functools gc genericpath getopt
  getpass gettext glob graphlib grp gzip hashlib heapq hmac html http idlelib imaplib imghdr imp importlib
  inspect io ipaddress itertools json keyword lib2to3 linecache locale logging lzma mailbox mailcap marshal
  math mimetypes mmap modulefinder msilib msvcrt multiprocessing netrc nis nntplib nt ntpath nturl2path
  numbers opcode operator optparse os ossaudiodev pathlib pdb pickle pickletools pip pipes pkgutil platform
  plistlib poplib posix posixpath pprint profile pstats pty pwd py_compile pyclbr pydoc pydoc_data pyexpat
  queue quopri random re readline reprlib resource rlcompleter runpy sched secrets select selectors
  setuptools shelve shlex shutil signal site sitecustomize smtpd smtplib sndhdr socket socketserver spwd
  sqlite3 sre_compile sre_constants sre_parse ssl stat statistics string stringprep struct subprocess sunau
  symtable sys sysconfig syslog tabnanny tarfile telnetlib tempfile termios textwrap this threading time
  timeit tkinter token tokenize tomllib trace traceback tracemalloc tty turtle turtledemo types typing
  unicodedata unittest urllib usercustomize uu uuid venv warnings wave weakref webbrowser winreg winsound
  wsgiref xdrlib xml xmlrpc zipapp zipfile zipimport zlib zoneinfo
`)

/** True for a name that Python reads as this very name, and not as a keyword. */
export function isPythonName(text: string): boolean {
  // Python compares names in this form: of two that look different, one could hide the other.
  return (
    /^[\p{XID_Start}_]\p{XID_Continue}*$/u.test(text) &&
    text.normalize("NFKC") === text &&
    !KEYWORDS.has(text)
  )
}

/** Refuses a module name that cannot be imported, or that would stand in the way of Python's own modules. */
export function checkModuleName(name: string): void {
  const reason = typeof name === "string" ? moduleNameProblem(name) : "is not a string"
  if (reason === undefined) return
  throw new GloveboxError(
    "OPTION_INVALID",
    `The module name ${describe(name)} ${reason}. Use a name of your own, such as "functions".`,
  )
}

function moduleNameProblem(name: string): string | undefined {
  // It is a file's name too, and file systems differ about other letters.
  if (!/^\w{1,64}$/.test(name) || !isPythonName(name)) return "is not a Python identifier of ASCII letters"
  if (name.startsWith("__")) return "is kept for Python itself"
  // Also in another case: some file systems do not tell them apart.
  return TAKEN_MODULES.has(name.toLowerCase()) ? "is that of a module of Python's own" : undefined
}

function words(text: string): ReadonlySet<string> {
  return new Set(text.trim().split(/\s+/))
}
