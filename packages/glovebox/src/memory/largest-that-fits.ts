/**
 * The largest number up to `most` that fits, or undefined when not even 0 does; whatever is less than one that fits,
 * fits too. It looks near the guess first: each look may be expensive.
 */
export async function largestThatFits(
  most: number,
  guess: number,
  fits: (count: number) => Promise<boolean>,
): Promise<number | undefined> {
  let [fitting, tooMany] = [-1, most + 1]
  let step = 1
  let count = Math.min(guess, most)
  for (;;) {
    if (await fits(count)) fitting = count
    else tooMany = count
    if (tooMany === 0) return undefined
    if (tooMany - fitting === 1) return fitting
    // Away from the guess in ever longer steps until it is passed, then halfway each time.
    if (fitting === -1) count = Math.max(0, tooMany - step)
    else if (tooMany === most + 1) count = Math.min(most, fitting + step)
    else count = Math.floor((fitting + tooMany) / 2)
    step *= 2
  }
}
