export function whole(value: number): string {
  return Math.round(value).toLocaleString("en-US")
}

export function twoDecimals(value: number): string {
  return value.toFixed(2)
}
