import { z } from "zod"
import { defineMessage } from "../message.ts"

/** Stands in a mailbox for work of the runtime itself; no agent ever sees it. */
export const RuntimeTask = defineMessage("glovebox.RuntimeTask", z.object({}))
