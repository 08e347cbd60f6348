export type { Participant } from "./participant.ts"
export { BaseGroupChat } from "./base-group-chat.ts"
export {
  MagenticOneGroupChat,
  type MagenticOneGroupChatOptions,
} from "./magentic-one/magentic-one-group-chat.ts"
export {
  type Activation,
  DiGraph,
  DiGraphBuilder,
  type DiGraphEdge,
  type DiGraphNode,
  type DiGraphOptions,
  type EdgeCondition,
  type EdgeOptions,
  GraphFlow,
  type GraphFlowOptions,
  type NodeOptions,
} from "./graph/index.ts"
export { RoundRobinGroupChat, type RoundRobinGroupChatOptions } from "./round-robin-group-chat.ts"
export { SelectorGroupChat, type SelectorGroupChatOptions } from "./selector/selector-group-chat.ts"
export type { CandidateFunc, SelectOptions, SelectorFunc } from "./selector/selector-policy.ts"
export type { Floor, NextSpeakers, SpeakerPolicy } from "./speaker-policy.ts"
export { Swarm, type SwarmOptions } from "./swarm.ts"
export type { TeamOptions } from "./team-options.ts"
export type { Team } from "./team.ts"
