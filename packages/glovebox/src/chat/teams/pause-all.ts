import { type Participant, isChatAgent } from "./participant.ts"
import { tellAll } from "./tell-all.ts"

export async function pauseAll(participants: readonly Participant[]): Promise<void> {
  await tellAll(participants, async (one) => (isChatAgent(one) ? one.onPause() : one.pause()))
}

export async function resumeAll(participants: readonly Participant[]): Promise<void> {
  await tellAll(participants, async (one) => (isChatAgent(one) ? one.onResume() : one.resume()))
}
