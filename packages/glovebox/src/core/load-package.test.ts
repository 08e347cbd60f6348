import { describe, expect, it } from "vitest"
import { expectFailure } from "./expect-failure.test-kit.ts"
import { loadPackage } from "./load-package.ts"

describe("loadPackage", () => {
  it("gives the package", async () => {
    expect(await loadPackage("zod", "A test", () => import("zod"))).toHaveProperty("z")
  })

  it("names what to install when it is not there", async () => {
    const load = async (): Promise<never> => {
      throw Object.assign(new Error("not found"), { code: "ERR_MODULE_NOT_FOUND" })
    }
    await expectFailure(
      loadPackage("a-package-that-nobody-has", "The bridge", load),
      "PACKAGE_MISSING",
      /^The bridge needs the package a-package-that-nobody-has, which is not installed\. Run: npm install a-package/,
    )
  })

  it("says what is wrong with one that does not load", async () => {
    const load = async (): Promise<never> => {
      throw new SyntaxError("Unexpected token")
    }
    await expectFailure(
      loadPackage("x", "It", load),
      "PACKAGE_MISSING",
      /which does not load: Unexpected token/,
    )
  })
})
