/**
 * `serial`: each request is sent when the one before is answered. `concurrent`: as many are always on their way, each
 * to an agent of its own. `publish`: each event goes to subscribers at several workers, and deliveries are counted.
 */
export type Workload = "serial" | "concurrent" | "publish"

export const IN_FLIGHT = 100
/** Each at a worker of its own. */
export const SUBSCRIBERS = 4
export const CONTENT = "x".repeat(1_024)

/** How often an operation's message goes over a connection, one way: to the host, from it, and the answer so too. */
export const HOPS: Readonly<Record<Workload, number>> = {
  serial: 4,
  concurrent: 4,
  // Once to the host and to each worker, over the deliveries that this makes.
  publish: (1 + SUBSCRIBERS) / SUBSCRIBERS,
}

/** There and back; the relay's are as those of a request. */
export const ECHO_HOPS = 2
export const RELAY_HOPS = 4
