import type { CodeBlock } from "../code-block.ts"

/** Small functions in Python for programs that want out. */
const PRELUDE = `import hashlib, json, os, socket, ssl, struct, sys, time, urllib.error, urllib.request

PROXY = ("127.0.0.1", 3128)

def fetch(url, data=None, **options):
    """What came, or the words of the failure; the time is far more than anything takes."""
    try:
        with urllib.request.urlopen(url, data=data, timeout=30, **options) as answer:
            return answer.read()
    except urllib.error.HTTPError as error:
        return f"{error.code} {error.reason} | {error.read().decode()}"
    except OSError as error:
        return f"{type(error).__name__}: {error}"

def proxy():
    return socket.create_connection(PROXY, 30)

def read_head(connection):
    head = b""
    while not head.endswith(b"\\r\\n\\r\\n"):
        byte = connection.recv(1)
        if not byte:
            break
        head += byte
    return head.decode("latin1")

def connect(host, port):
    """A connection by CONNECT; raises with the proxy's words."""
    connection = proxy()
    connection.sendall(f"CONNECT {host}:{port} HTTP/1.1\\r\\nHost: {host}:{port}\\r\\n\\r\\n".encode())
    status = read_head(connection).split("\\r\\n")[0]
    if " 200 " not in status:
        raise OSError(status)
    return connection

def socks(host, port):
    """A connection by SOCKS5; raises with the number of the reply."""
    connection = proxy()
    connection.sendall(b"\\x05\\x01\\x00")
    assert connection.recv(2) == b"\\x05\\x00"
    name = host.encode()
    connection.sendall(b"\\x05\\x01\\x00\\x03" + bytes([len(name)]) + name + struct.pack(">H", port))
    reply = connection.recv(10)
    if reply[1]:
        raise OSError(f"SOCKS reply {reply[1]}")
    return connection

def read_all(connection):
    data = b""
    while True:
        try:
            piece = connection.recv(1 << 16)
        except OSError as error:
            return data + type(error).__name__.encode()
        if not piece:
            return data
        data += piece

def show(*values):
    print(*[value.decode() if isinstance(value, bytes) else value for value in values], flush=True)
`

/** A block that has the functions. */
export function program(code: string): CodeBlock {
  return { language: "python", code: `${PRELUDE}\n${code}` }
}
