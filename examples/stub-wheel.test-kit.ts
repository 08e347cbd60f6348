import { execFile } from "node:child_process"
import { chmod, mkdtemp } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"

// As much of the package as the examples use. A wheel is a zip with three files that say what it is.
const CODE = `import sys, zipfile
info, body = "requests-0.0.dist-info/", '''import json, urllib.request
__version__ = "0.0"
class Response:
    def __init__(self, text): self.text = text
    def json(self): return json.loads(self.text)
def get(url): return Response(urllib.request.urlopen(url).read())
'''
with zipfile.ZipFile(sys.argv[1] + "/requests-0.0-py3-none-any.whl", "w") as wheel:
    wheel.writestr("requests.py", body)
    wheel.writestr(info + "METADATA", "Metadata-Version: 2.1\\nName: requests\\nVersion: 0.0\\n")
    wheel.writestr(info + "WHEEL", "Wheel-Version: 1.0\\nGenerator: a test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    wheel.writestr(info + "RECORD", "".join(f"{path},,\\n" for path in ("requests.py", info + "METADATA", info + "WHEEL", info + "RECORD")))`

/** A folder with a stand-in for `requests`, so that the examples that install it need no index. */
export async function stubWheels(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "glovebox-wheels-"))
  // Also for the user of a sandbox.
  await chmod(folder, 0o755)
  await promisify(execFile)("python3", ["-c", CODE, folder])
  return folder
}
