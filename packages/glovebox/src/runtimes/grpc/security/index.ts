export { AccessGrants, type Admission, type Authenticate } from "./access-grants.ts"
export {
  type ChannelSecurityOptions,
  channelCredentials,
  channelSecurityOptions,
} from "./channel-credentials.ts"
export { Grant, type GrantScopes } from "./grant.ts"
export { refusePlaintext } from "./refuse-plaintext.ts"
export { type ServerSecurityOptions, serverCredentials } from "./server-credentials.ts"
export { type HostTls, type WorkerTls, hostTlsSchema, workerTlsSchema } from "./tls-options.ts"
export { type TokenGrant, tokenSchema, tokensSchema } from "./tokens.ts"
