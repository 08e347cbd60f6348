def encode(value):
    return "".join(json_parts(value)).encode()


def json_parts(value):
    if isinstance(value, str):
        yield quote(value)
    elif value is None or isinstance(value, bool):
        yield {None: "null", True: "true", False: "false"}[value]
    elif isinstance(value, dict):
        yield "{"
        for at, (key, item) in enumerate(value.items()):
            yield ("," if at else "") + quote(key) + ":"
            yield from json_parts(item)
        yield "}"
    elif isinstance(value, (list, tuple)):
        yield "["
        for at, item in enumerate(value):
            yield "," if at else ""
            yield from json_parts(item)
        yield "]"
    else:
        yield repr(value)


class JsonRules:
    strict, object_hook, object_pairs_hook = True, None, None
    parse_float, parse_int, parse_constant, memo = float, int, float, {}


scan = make_scanner(JsonRules)


def decode(payload):
    try:
        text = payload.decode("utf-8")
        value, end = scan(text, 0)
        if end != len(text):
            raise ValueError("something behind it")
    except (ValueError, RecursionError, StopIteration, SystemError, ImportError) as error:
        # The last two, because the C scanner looks for json.decoder in sys.modules to raise from it.
        raise Refusal("bad JSON: %s" % error)
    if not isinstance(value, dict):
        raise Refusal("bad JSON: not an object")
    return value
