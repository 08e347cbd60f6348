import { execFile } from "node:child_process"
import { promisify } from "node:util"

const run = promisify(execFile)

/** A tree with Python and what it is linked to, and nothing else. */
export async function pythonTree(root: string): Promise<void> {
  const script = `set -e
cd "$1"
chmod 755 .
mkdir -p usr/bin usr/lib usr/lib64 etc
python=$(readlink -f /usr/bin/python3)
cp "$python" usr/bin/python3
library=$(/usr/bin/python3 -c 'import sysconfig; print(sysconfig.get_path("stdlib"))')
mkdir -p ".$(dirname "$library")"
# Links cost nothing, where it is the same disk.
cp -al "$library" ".$library" 2>/dev/null || cp -a "$library" ".$library"
{ ldd "$python"; find "$library/lib-dynload" -name '*.so' -exec ldd {} +; } | grep -o '/[^ :]*\\.so[^ :]*' | sort -u | while read -r file; do
  target=".$(echo "$file" | sed 's,^/lib,/usr/lib,')"
  [ -e "$target" ] || { mkdir -p "$(dirname "$target")"; cp -L "$file" "$target"; }
done
ln -s usr/lib lib
ln -s usr/lib64 lib64
ln -s usr/bin bin`
  await run("sh", ["-c", script, "sh", root])
}
