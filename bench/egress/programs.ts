/** The same program for the host and for a sandbox: it only knows an address, and measures itself. */
function measuring(origin: string, code: string): string {
  return `import time, urllib.request
ORIGIN = ${JSON.stringify(origin)}
def read(path, data=None):
    size = 0
    with urllib.request.urlopen(ORIGIN + path, data=data, timeout=300) as answer:
        while piece := answer.read(1 << 18): size += len(piece)
    return size
read("/")
${code}`
}

/** Seconds that a download of so many bytes takes. */
export function download(origin: string, bytes: number): string {
  return measuring(
    origin,
    `started = time.perf_counter()
assert read("/zeros/${bytes}") == ${bytes}
print(time.perf_counter() - started)`,
  )
}

/** Seconds that an upload of so many bytes takes. */
export function upload(origin: string, bytes: number): string {
  return measuring(
    origin,
    `data = bytes(${bytes})
started = time.perf_counter()
read("/", data)
print(time.perf_counter() - started)`,
  )
}

/** Seconds that a small request takes, a connection each: the median of so many. */
export function smallRequest(origin: string, requests: number): string {
  return measuring(
    origin,
    `def once():
    started = time.perf_counter()
    read("/")
    return time.perf_counter() - started
times = sorted(once() for _ in range(${requests}))
print(times[len(times) // 2])`,
  )
}

/** Seconds that many downloads take which begin together. */
export function downloads(origin: string, count: number, bytes: number): string {
  return measuring(
    origin,
    `from concurrent.futures import ThreadPoolExecutor
started = time.perf_counter()
with ThreadPoolExecutor(${count}) as pool:
    sizes = set(pool.map(read, ["/zeros/${bytes}"] * ${count}))
assert sizes == {${bytes}}, sizes
print(time.perf_counter() - started)`,
  )
}
