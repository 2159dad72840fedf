/** All plots share the first eight colours. */
const named = 8
/** With more shards, those whose names follow each other share a hue by tens. */
const groupedFrom = 2 * named + 1
const group = 10

/** In degrees: neighbouring hues are far apart. */
const goldenAngle = 137.508

export const toneOf = (index: number): string => `s${index}`

/** Colour classes of the shards of a run. */
export function tonesOf(shards: readonly string[]): string[] {
  return shards.map((_, i) => (shards.length < groupedFrom ? toneOf(i) : `g${i}`))
}

/**
 * For classes beyond the common style.
 * @param count of variants, or of the shards of the largest one
 */
export function tonesStyle(count: number): string {
  const rules: string[] = []
  const add = (tone: string, colour: string): void =>
    void rules.push(`path.${tone}{stroke:${colour}}rect.${tone}{fill:${colour}}i.${tone}{background:${colour}}`)
  for (let n = named; n < Math.min(count, groupedFrom); n++)
    add(toneOf(n), `hsl(${Math.round((n * goldenAngle) % 360)} ${55 + 15 * (n % 2)}% ${44 + 12 * (n % 3)}%)`)
  if (count < groupedFrom) return rules.join('')
  for (let n = 0; n < count; n++) {
    const hue = Math.round((Math.floor(n / group) * goldenAngle) % 360)
    add(`g${n}`, `hsl(${hue} ${60 - 3 * (n % 2)}% ${26 + 5 * (n % group)}%)`)
  }
  return rules.join('')
}
