import { afterAll, describe, it } from "vitest"
import { modelClientConformance } from "../../testing/model-client-conformance.ts"
import { replaySubject } from "./replay-subject.test-kit.ts"

modelClientConformance({ describe, it, after: afterAll }, replaySubject("ReplayChatCompletionClient"))
