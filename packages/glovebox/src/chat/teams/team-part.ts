import { type ComponentPart, componentPart } from "../../core/index.ts"
import type { Team } from "./team.ts"

/** A team inside another component's data. */
export const teamPart: ComponentPart<Team> = componentPart("team", ["runStream", "reset", "resume"])
