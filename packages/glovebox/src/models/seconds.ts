/** As AutoGen writes times into a component's data. */
export function seconds(milliseconds: number | undefined): number | undefined {
  return milliseconds === undefined ? undefined : milliseconds / 1000
}

export function milliseconds(seconds: number | null | undefined): number | undefined {
  return typeof seconds === "number" ? Math.round(seconds * 1000) : undefined
}
