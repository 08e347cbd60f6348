/** Takes the reasoning that some models write into their text, `<think>` to `</think>`, out of it. */
export function splitThought(text: string): { readonly content: string; readonly thought?: string } {
  const match = /^\s*<think>([^]*?)<\/think>([^]*)$/.exec(text)
  // A template may open the tag itself, so that only its end is in the answer.
  const tail = match ?? /^([^]*?)<\/think>([^]*)$/.exec(text)
  if (!tail) return { content: text }
  const [, thought = "", content = ""] = tail
  if (!match && thought.includes("<think>")) return { content: text }
  return { content: content.trim(), ...(thought.trim() === "" ? {} : { thought: thought.trim() }) }
}
