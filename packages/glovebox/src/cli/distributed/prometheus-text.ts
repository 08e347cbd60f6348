/** A number that a scraper reads; labels tell kinds of things, and nothing of users. */
export interface Metric {
  readonly name: string
  readonly help: string
  readonly type: "counter" | "gauge"
  /** One, or one for each value of a label. */
  readonly value: number | { readonly label: string; readonly of: Readonly<Record<string, number>> }
}

/** Numbers in the text format of Prometheus. */
export function prometheusText(metrics: readonly Metric[]): string {
  return metrics
    .flatMap(({ name, help, type, value }) => [
      `# HELP ${name} ${help}`,
      `# TYPE ${name} ${type}`,
      ...(typeof value === "number"
        ? [`${name} ${value}`]
        : Object.entries(value.of).map(([kind, count]) => `${name}{${value.label}="${kind}"} ${count}`)),
    ])
    .map((line) => `${line}\n`)
    .join("")
}
