/**
 * Takes the reasoning that some models write into their text, `<think>` to `</think>`, out of it.
 * A tag that is only closed counts for models that are known to do so: any other may be speaking of the tag.
 */
export function splitThought(
  text: string,
  tags: "opened" | "perhaps-opened" = "perhaps-opened",
): { readonly content: string; readonly thought?: string } {
  const match = /^\s*<think>([^]*?)<\/think>([^]*)$/.exec(text)
  // A template may open the tag itself, so that only its end is in the answer.
  const tail = match ?? (tags === "opened" ? null : /^([^]*?)<\/think>([^]*)$/.exec(text))
  if (!tail) return { content: text }
  const [, thought = "", content = ""] = tail
  if (!match && thought.includes("<think>")) return { content: text }
  return { content: content.trim(), ...(thought.trim() === "" ? {} : { thought: thought.trim() }) }
}
