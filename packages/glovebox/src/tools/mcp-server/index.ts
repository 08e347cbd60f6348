export type { SandboxServerOptions } from "./sandbox-server.ts"
export type {
  SandboxSessionOptions,
  SessionCall,
  SessionExecutor,
  SessionInfo,
  SessionResult,
} from "./sandbox-session.ts"
export { SandboxHttpServer, type ServeSandboxHttpOptions } from "./serve-sandbox-http.ts"
export { type ServeSandboxStdioOptions, serveSandboxStdio } from "./serve-sandbox-stdio.ts"
