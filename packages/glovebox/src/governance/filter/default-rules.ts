import type { FilterRule } from "./filter-rule.ts"
import { METADATA_ADDRESS } from "./metadata-address.ts"

// A user's folder, however it is written.
const HOME = String.raw`(?:~|\$home|\$\{home\}|%userprofile%|/root|/(?:home|users)/[\w.-]{1,64})`
const ASK =
  "(?:print|show|dump|list|reveal|output|send|give|tell|echo|display|return|read|expose|leak|share|log|include)"
const WHOSE = "(?:me |us )?(?:all )?(?:of )?(?:your|the|all|my|its|this|every|any)"
// "The rules for passwords" are no password.
const WORDS = "(?:(?!about |for |on |regarding )[\\w'-]{1,20} ){0,3}"
const PROGRAM_SHELL = String.raw`(?:sudo )?(?:(?:ba|z|da|k)?sh|python3?|node|perl)(?![\w.-])`

/**
 * What the filter looks for when nothing else is said. They are written for requests and for exact names: to talk
 * about files, variables or servers in general is fine.
 */
export const DEFAULT_FILTER_RULES: readonly FilterRule[] = [
  {
    name: "system-accounts",
    kind: "host-path",
    pattern: / ?\/ ?etc ?\/ ?(?:g?shadow|passwd|sudoers|master\.passwd|krb5\.keytab|ssl\/private)(?![\w-])/,
  },
  {
    name: "process-files",
    kind: "host-path",
    pattern:
      /\/proc\/(?:(?:self|thread-self|\d{1,10}|\*|\$\$)\/(?:environ|mem|maps|root|cwd|fd|cmdline)|kcore|sysrq-trigger|sys\/kernel\/core_pattern)(?![\w-])/,
  },
  {
    name: "container-socket",
    kind: "host-path",
    pattern: /(?:docker|containerd|podman|crio|cri-dockerd)\.sock(?![\w-])/,
  },
  {
    name: "host-folders",
    kind: "host-path",
    pattern:
      /\/(?:var\/lib\/(?:docker|kubelet|containerd)|(?:var\/)?run\/secrets|host(?:fs)?\/(?:etc|root|home|var|proc)|sys\/fs\/cgroup\/[\w./-]{0,80}release_agent)(?![\w-])|\/dev\/(?:sd[a-z]\d?|nvme\d\w{0,6}|k?mem)(?![\w-])|c:\/windows\/system32\/config\/(?:sam|system|security)(?![\w-])/,
  },
  {
    name: "shell-history",
    kind: "host-path",
    pattern: new RegExp(String.raw`${HOME}/\.(?:bash|zsh|python|psql|mysql|node_repl)_history`),
  },
  {
    name: "ssh-key",
    kind: "credential",
    pattern: /\.ssh ?\/ ?(?:id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?|identity|authorized_keys)(?!\.pub|\w)/,
  },
  {
    name: "cloud-credentials",
    kind: "credential",
    pattern:
      /\.aws ?\/ ?credentials(?!\w)|gcloud\/(?:application_default_credentials|credentials|access_tokens|legacy_credentials)|\.azure\/(?:accesstokens|msal_token_cache)/,
  },
  {
    name: "credential-file",
    kind: "credential",
    pattern: new RegExp(
      String.raw`${HOME}/\.(?:npmrc|netrc|pypirc|pgpass|my\.cnf|git-credentials|vault-token|gnupg|kube/config|docker/config\.json|terraform\.d/credentials)(?!\w)|(?<!\w)(?:cat|read|print|show|send|dump|open|type) (?:me )?(?:the |your )?(?:[\w./~-]{0,80}/)?\.env(?:\.\w{1,20})?(?![\w-])`,
    ),
  },
  {
    name: "environment-request",
    kind: "credential",
    pattern: new RegExp(
      String.raw`(?<!\w)${ASK} ${WHOSE} ${WORDS}(?:environment variables?|env vars?|environment(?= *(?:$|[.,!;:?]| to | in ))|process\.env|os\.environ)(?![\w[-]|\.\w)`,
    ),
  },
  {
    name: "environment-dump",
    kind: "credential",
    pattern:
      /(?:print|pprint|dict|str|repr|list|json\.dumps) ?\( ?(?:dict\( ?)?os\.environ(?:\.items\(\))? ?[,)]|(?:json\.stringify|console\.log) ?\( ?process\.env ?[,)]|(?<![\w-])printenv(?![\w-])/,
  },
  {
    name: "secret-request",
    kind: "credential",
    pattern: new RegExp(
      String.raw`(?<!\w)(?:${ASK}|what(?:'s| is| are)) ${WHOSE} ${WORDS}(?:api[ -]?keys?|passwords?|credentials|secrets|access tokens?|private keys?|system prompt)(?!\w| (?:policy|policies|field|form|reset|manager|hash|length|strength|rules?|requirements?|generator|page|input))`,
    ),
  },
  { name: "cloud-metadata", kind: "network", pattern: METADATA_ADDRESS },
  {
    name: "host-gateway",
    kind: "network",
    pattern:
      /(?<![\w.-])(?:host|gateway)\.docker\.internal(?![\w-])|(?<![\w.-])kubernetes\.default(?:\.svc)?(?![\w-])/,
  },
  {
    name: "exfiltration",
    kind: "network",
    pattern:
      /(?<!\w)(?:send|post|upload|exfiltrate|forward|transmit|submit|leak|report|deliver|push|copy)(?!\w)[^!?]{0,80}? (?:to|into|at) (?:[\w'-]{1,20} ){0,3}(?:https?|ftp|wss?):\//,
  },
  {
    name: "download-and-run",
    kind: "network",
    pattern: new RegExp(
      String.raw`(?<![\w.-])(?:curl|wget|iwr|invoke-webrequest) [^|;]{0,200}\| ?${PROGRAM_SHELL}|(?<!\w)${PROGRAM_SHELL} <\( ?(?:curl|wget) `,
    ),
  },
  {
    name: "reverse-shell",
    kind: "network",
    pattern:
      /\/dev\/(?:tcp|udp)\/|(?<![\w.-])(?:nc|ncat|netcat) (?:-\w{1,10} ){0,4}-\w{0,10}[ec](?!\w)|sh -i ?[>&]{1,2}/,
  },
  {
    name: "data-collector",
    kind: "network",
    pattern:
      /(?<![\w-])(?:webhook\.site|requestbin\.(?:com|net)|[\w-]{1,63}\.(?:ngrok(?:-free)?\.(?:io|app)|oast\.(?:fun|pro|live|site|online|me)|burpcollaborator\.net|m\.pipedream\.net))(?![\w-])/,
  },
]
