/** What is known of an agent without talking to it. */
export interface AgentMetadata {
  readonly type: string
  readonly key: string
  readonly description: string
}
