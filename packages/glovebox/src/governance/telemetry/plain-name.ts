const PLAIN_NAME = /^\w[\w.,:/+#@-]{0,127}$/

/** A name that a model may have made up: what is no plain name is text, and text is content. */
export function plainName(name: string): string {
  return PLAIN_NAME.test(name) ? name : "_OTHER"
}
