/** Makes something while the variables that begin so are hidden: libraries would take keys and headers from them. */
export function withoutEnvironment<T>(prefix: RegExp, make: () => T): T {
  const hidden = Object.entries(process.env).filter(([name]) => prefix.test(name))
  for (const [name] of hidden) delete process.env[name]
  try {
    return make()
  } finally {
    for (const [name, value] of hidden) process.env[name] = value
  }
}
