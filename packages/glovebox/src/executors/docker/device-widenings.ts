import type { PolicyChange } from "../../policy/index.ts"
import type { DockerOptions } from "./docker-options.ts"

/** Devices, which no policy has. */
export function deviceWidenings({
  deviceRequests,
}: Pick<DockerOptions, "deviceRequests">): readonly PolicyChange[] {
  return deviceRequests.map((request): PolicyChange => ({
    path: "deviceRequests",
    from: "absent",
    to: JSON.stringify(request),
    effect: "widens",
  }))
}
