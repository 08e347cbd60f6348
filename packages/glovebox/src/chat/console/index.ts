export type { ConsoleOptions } from "./console-options.ts"
export type { ConsoleStream } from "./console-output.ts"
export { Console } from "./console.ts"
export { type Screen, UserInputManager } from "./user-input-manager.ts"
