export const APPROVALS = ["ask", "always", "never"] as const

/** Whether code runs only after somebody has seen it: `ask`, always without, or never at all. */
export type ApprovalChoice = (typeof APPROVALS)[number]
