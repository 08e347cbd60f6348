export * from "./approval/index.ts"
export * from "./audit/index.ts"
export * from "./filter/index.ts"
export * from "./redaction/index.ts"
