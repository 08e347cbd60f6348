// An answer that fits a schema.
//   npx tsx examples/agents/structured-output.ts
import { AssistantAgent, StructuredMessage, toText } from "glovebox"
import { OpenAIChatCompletionClient } from "glovebox/models/openai"
import { z } from "zod"
import { scriptedModel } from "../scripted-model.ts"

const modelClient =
  scriptedModel(['{"city": "Oslo", "country": "Norway", "people": 717710}']) ??
  new OpenAIChatCompletionClient({ model: "gpt-5-mini" })

const City = z.object({ city: z.string(), country: z.string(), people: z.int() })

const geographer = new AssistantAgent({
  name: "geographer",
  modelClient,
  outputContentType: City,
  outputContentTypeFormat: "{city} in {country} has {people} inhabitants.",
})

const { messages } = await geographer.run("Which city is the capital of Norway?")
const answer = messages.at(-1)
if (StructuredMessage.is(answer)) {
  const { city, people } = City.parse(answer.content)
  console.log(city, people)
  console.log(toText(answer))
}

/* Prints, with the scripted model:
Oslo 717710
Oslo in Norway has 717710 inhabitants.
*/
