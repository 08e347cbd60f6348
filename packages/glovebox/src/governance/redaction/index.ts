export type { SecretPattern } from "./pattern-scanner.ts"
export type { RedactionStream } from "./redaction-stream.ts"
export { Redactor, type SecretRegistration } from "./redactor.ts"
export type { RedactorOptions } from "./redactor-options.ts"
