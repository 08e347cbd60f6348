import { isLoopbackAddress } from "../../runtimes/grpc/security/is-loopback-address.ts"
import { CommandFailure, EXIT_USAGE } from "../command-failure.ts"

/** The runtime refuses it too, in the words of a program. */
export function refusePlainAddress(address: string, remedy: string): void {
  if (isLoopbackAddress(address)) return
  throw new CommandFailure(
    `${address} is not an address of this machine alone, and messages would go there unencrypted. Give ${remedy}; or, on a network that you trust, --allow-plaintext.`,
    { exitCode: EXIT_USAGE },
  )
}
