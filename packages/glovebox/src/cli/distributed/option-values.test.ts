import { describe, expect, it } from "vitest"
import { aHostAddress } from "./option-values.ts"

describe("the address of a host", () => {
  it.each(["127.0.0.1:50051", "host.example:0", "[::1]:50051", "unix:/run/host.sock"])(
    "%s is one",
    (address) => {
      expect(aHostAddress(address)).toBe(address)
    },
  )

  it.each(["127.0.0.1", ":50051", "http://127.0.0.1:50051", "127.0.0.1:99999", "::1:50051", "unix:", ""])(
    "%s is none, and nothing is guessed",
    (address) => {
      expect(() => aHostAddress(address)).toThrow("Write host and port, such as 127.0.0.1:50051")
    },
  )
})
