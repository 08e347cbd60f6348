import { TUNNEL_PORT } from "./tunnel.ts"

const PROXY = `http://127.0.0.1:${TUNNEL_PORT}`
const DIRECT = "localhost,127.0.0.1,::1"

/** Where programs learn of the way out: pip, curl, git, npm, requests, urllib and others each look at some of these. */
export const PROXY_VARIABLES: Readonly<Record<string, string>> = {
  http_proxy: PROXY,
  https_proxy: PROXY,
  all_proxy: PROXY,
  no_proxy: DIRECT,
  HTTP_PROXY: PROXY,
  HTTPS_PROXY: PROXY,
  ALL_PROXY: PROXY,
  NO_PROXY: DIRECT,
  npm_config_proxy: PROXY,
  npm_config_https_proxy: PROXY,
  npm_config_noproxy: DIRECT,
  // From version 24 on Node's own fetch looks at the others with this.
  NODE_USE_ENV_PROXY: "1",
}
