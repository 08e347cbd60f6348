const SECRET_NAME = /auth|cookie|key|secret|token|password|credential|signature/i

/** Whether a header or a part of a query of this name likely holds a secret. */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name)
}
