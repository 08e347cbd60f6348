/** What is known of an agent without talking to it. */
export interface AgentMetadata {
  readonly type: string
  readonly key: string
  readonly description: string
  /** What rules and people call it, where its type was made up for it. */
  readonly name?: string | undefined
}
