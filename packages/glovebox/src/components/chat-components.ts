import {
  AgentTool,
  AssistantAgent,
  CodeExecutorAgent,
  GraphFlow,
  MagenticOneGroupChat,
  MessageFilterAgent,
  RoundRobinGroupChat,
  SelectorGroupChat,
  SocietyOfMindAgent,
  Swarm,
  TeamTool,
  UserProxyAgent,
  conditionComponents,
} from "../chat/index.ts"
import type { ComponentDefinition } from "../core/index.ts"

/** The agents, teams and conditions that can be made from data. */
export const chatComponents: readonly ComponentDefinition<never>[] = [
  AssistantAgent.definition,
  CodeExecutorAgent.definition,
  MessageFilterAgent.definition,
  SocietyOfMindAgent.definition,
  UserProxyAgent.definition,
  RoundRobinGroupChat.definition,
  SelectorGroupChat.definition,
  Swarm.definition,
  GraphFlow.definition,
  MagenticOneGroupChat.definition,
  AgentTool.definition,
  TeamTool.definition,
  ...conditionComponents,
]
