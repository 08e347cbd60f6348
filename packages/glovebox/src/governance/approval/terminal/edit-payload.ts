import type { CodePayload } from "../approval-payload.ts"
import { readAnswer } from "../gate-answer.ts"
import type { GateRequest } from "../gate-request.ts"

/** Changes a text; rejects when that did not work. */
export type Edit = (text: string, extension: string) => Promise<string>

/**
 * What a person makes of a payload, checked: code block by block, anything else as JSON.
 *
 * @throws Error that says what is wrong with it
 */
export async function editPayload(request: GateRequest, payload: unknown, edit: Edit): Promise<unknown> {
  const edited = await changed(request, payload, edit)
  readAnswer(request, { decision: "edit", payload: edited })
  return edited
}

async function changed({ kind }: GateRequest, payload: unknown, edit: Edit): Promise<unknown> {
  if (kind === "code") {
    const codeBlocks = []
    for (const block of (payload as CodePayload).codeBlocks) {
      codeBlocks.push({ ...block, code: await edit(block.code, "txt") })
    }
    return { codeBlocks }
  }
  const part = kind === "tool" ? "arguments" : "to"
  const fields = payload as Readonly<Record<string, unknown>>
  const text = await edit(`${JSON.stringify(fields[part], undefined, 2)}\n`, "json")
  return { ...fields, [part]: JSON.parse(text) as unknown }
}
