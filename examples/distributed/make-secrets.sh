#!/usr/bin/env bash
# Makes what the compose file needs, in a folder that only you can open: an authority, certificates, and two tokens of
# which the host gets the hashes alone.
#   bash make-secrets.sh [folder]
set -euo pipefail

folder=${1:-$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/secrets}
mkdir -p "$folder"
chmod 700 "$folder"
cd "$folder"

ec=(-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes)
openssl req -x509 "${ec[@]}" -days 3650 -subj "/CN=glovebox example" -keyout ca-key.pem -out ca.pem 2>/dev/null
certificate() {
  openssl req -x509 "${ec[@]}" -days 365 -subj "/CN=$1" -CA ca.pem -CAkey ca-key.pem \
    -addext "subjectAltName=$2" -addext "basicConstraints=critical,CA:FALSE" \
    -keyout "$1-key.pem" -out "$1.pem" 2>/dev/null
}
certificate host "DNS:host,DNS:localhost,IP:127.0.0.1"
certificate worker "DNS:worker" # for a host that asks for it: --client-ca

hash_of() { tr -d '\n' <"$1" | openssl dgst -sha256 -r | cut -d ' ' -f 1; }
for name in worker client; do openssl rand -hex 32 >"$name.token"; done

cat >tokens.yaml <<TEXT
tokens:
  - name: worker
    token_hash: $(hash_of worker.token)
    register: [counter, tally]
    publish: [book]
    subscribe: [book]
  - name: client
    token_hash: $(hash_of client.token)
    send: [counter, tally]
    publish: [book]
TEXT

# A container's user is another: it may read the files that it is given, and nobody else can open the folder.
chmod 644 host.pem host-key.pem worker.pem worker-key.pem ca.pem tokens.yaml worker.token client.token
chmod 600 ca-key.pem
