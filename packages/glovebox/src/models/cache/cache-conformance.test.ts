import { afterAll, describe, it } from "vitest"
import { modelClientConformance } from "../../testing/model-client-conformance.ts"
import { replaySubject } from "../replay/replay-subject.test-kit.ts"
import { ChatCompletionCache } from "./index.ts"

modelClientConformance(
  { describe, it, after: afterAll },
  replaySubject("ChatCompletionCache", (client) => new ChatCompletionCache(client)),
)
