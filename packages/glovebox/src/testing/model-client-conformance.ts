import type { ModelClientSubject } from "./model-client-subject.ts"
import { defineModelAborts } from "./models/aborts.ts"
import { defineAnswers } from "./models/answers.ts"
import { defineFailures } from "./models/failures.ts"
import { defineModelPart } from "./models/model-suite.ts"
import { defineRequests } from "./models/requests.ts"
import { defineTools } from "./models/tools.ts"
import type { TestRunner } from "./test-runner.ts"

/**
 * Defines the tests of what every ChatCompletionClient does, for any test runner. The subject brings a server
 * that speaks its provider's format and answers what a test tells it to.
 */
export function modelClientConformance(runner: TestRunner, subject: ModelClientSubject): void {
  runner.describe(`a model client: ${subject.name}`, () => {
    defineModelPart(runner, subject, "answers", defineAnswers)
    defineModelPart(runner, subject, "requests", defineRequests)
    defineModelPart(runner, subject, "tools", defineTools)
    defineModelPart(runner, subject, "aborts", defineModelAborts)
    if (subject.features.http) defineModelPart(runner, subject, "failures", defineFailures)
  })
}
