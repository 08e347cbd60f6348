const raw = String.raw

/** Programs for what 3.12 and later have; in others they tell that it is not there. */
export const newerPrograms: Record<string, string> = {
  "newer ways to watch": raw`import sys
m = getattr(sys, "monitoring", None)
if m:
    print([m.get_tool(id) for id in range(6)])
    seen = []
    m.use_tool_id(1, "mine")
    m.register_callback(1, m.events.PY_START, lambda code, offset: seen.append(code.co_qualname) if "/lib/" in code.co_filename else None)
    m.set_events(1, m.events.PY_START)
    import bisect, random
    m.set_events(1, 0)
    print(seen)`,
  "other interpreters": raw`import sys
try:
    import _interpreters as low
except ImportError:
    import _xxsubinterpreters as low
main = low.get_main()
print(main, low.is_running(0 if isinstance(main, tuple) else main), low.get_current() == main)
try:
    from concurrent import interpreters
    print(interpreters.get_main().is_running(), interpreters.list_all())
    other = interpreters.create()
    other.exec("import sys, json; print(json.dumps(1), 'random' in sys.modules, __name__)")
    other.close()
    from concurrent.futures import InterpreterPoolExecutor
    with InterpreterPoolExecutor(2) as pool: print(list(pool.map(abs, [-1, -2])))
except ImportError as error:
    print(error)`,
  "annotations and lazy imports": raw`import sys
def f(x: undefined): pass
class C:
    y: int
z: str = ""
try:
    import annotationlib
    print(annotationlib.get_annotations(f, format=annotationlib.Format.STRING))
    f.__annotations__
except Exception as error:
    print(type(error), error)
print(C.__annotations__, sorted(k for k in globals() if "annot" in k))
try:
    exec("lazy import json, colorsys\nprint('json' in sys.modules, 'colorsys' in sys.modules)\nprint(json.dumps(1), colorsys.__name__)")
except SyntaxError: print("not here")
print(list(sys.modules))`,
  "its own source in caches": raw`import linecache, sys
print(linecache.cache, getattr(linecache, "_interactive_cache", None))
exec("def g(): return 1 / 0")
try: g()
except ZeroDivisionError:
    import traceback
    traceback.print_exc()`,
}
