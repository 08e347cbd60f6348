/** `{team}` and `{task}` are filled in. */
export const LEAD = `You lead a team that works on a request. You plan, say who does what next, and judge what comes of it. You do none of the work yourself.

The team:
{team}

The request:
{task}`

export const FACTS = `Before anybody begins, write down what is known, in four short lists:
1. what the request itself states
2. what has to be looked up, and where
3. what has to be worked out
4. what you believe without proof
Write the lists and nothing else.`

export const PLAN =
  "Now write a short plan: numbered steps, each with the member of the team who does it. Not everybody has to take part."

export const NEW_FACTS =
  "The team is stuck. Write the four lists anew: strike what proved wrong, add what was learned, and make at least one new belief that may help."

export const NEW_PLAN =
  "Say in a sentence or two what went wrong and why. Then write another plan, which does not run into it again."

/** Said to the team; `{team}`, `{facts}` and `{plan}` are filled in. */
export const LEDGER = `The team:
{team}

What we know:
{facts}

The plan:
{plan}`

/** Before the ledger, for those who were told to forget the request. */
export const REQUEST = "We work on this request:"

export const FINAL_ANSWER =
  "The work is over. Write the answer for whoever made the request: whole in itself, from what the team found, and frank about what is missing."

const JUDGE = `Judge where the team stands, and decide what comes next. Answer with one JSON object and nothing else. Each of its fields is an object with "reason", a short text, and then "answer":
- "satisfied": true if nothing of the request is left to do
- "looping": true if the team does or says the same over and over
- "progressing": true if the last steps brought the team nearer to its goal
`

const INSTRUCT = `- "instruction": what to tell them, with all that they need to know for it`

/** Asks for the progress ledger. */
export function progressPrompt(speakers: readonly string[]): string {
  if (speakers.length < 2) return JUDGE + INSTRUCT
  return `${JUDGE}- "nextSpeaker": who is to go on, one of: ${speakers.join(", ")}\n${INSTRUCT}`
}
