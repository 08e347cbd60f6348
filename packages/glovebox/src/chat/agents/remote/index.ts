export { RemoteChatAgent, type RemoteChatAgentOptions } from "./remote-chat-agent.ts"
export { type ServeChatAgentOptions, serveChatAgent } from "./serve-chat-agent.ts"
