/**
 * `serial`: each request is sent when the one before is answered. `concurrent`: a hundred at once, each to
 * an agent of its own. `publish`: each message goes to all subscribers, and deliveries are counted.
 */
export type Workload = "serial" | "concurrent" | "publish"

export const CONCURRENCY = 100
export const SUBSCRIBERS = 4
/** Operations between two looks at the clock. */
export const BATCH = 1_000
