// Runs a cell as a notebook would: the value of a last expression is shown, and a traceback is of the cell alone.
const RUNNER = `def __glovebox_cell__(source, name):
    import ast, linecache, sys, traceback
    linecache.cache[name] = (len(source), None, (source + "\\n").splitlines(True), name)
    try:
        tree = ast.parse(source, name)
        last = [tree.body.pop()] if tree.body and isinstance(tree.body[-1], ast.Expr) else []
        exec(compile(tree, name, "exec"), globals())
        exec(compile(ast.Interactive(last), name, "single"), globals())
    except SystemExit:
        raise
    except BaseException as error:
        own = error.__traceback__
        while own and own.tb_frame.f_code.co_filename != name:
            own = own.tb_next
        traceback.print_exception(type(error), error, own)
        sys.exit(1)
`

/** The code that shows what a last expression gives, for interpreters that do not by themselves. */
export function expressionCell(source: string, name: string): string {
  return `${RUNNER}__glovebox_cell__(${pythonText(source)}, ${pythonText(name)})\n`
}

// What JSON writes Python reads, but for lone halves of characters, which JSON escapes and Python cannot print.
function pythonText(source: string): string {
  return JSON.stringify(source.replaceAll(/\p{Cs}/gu, "\u{fffd}"))
}
