/** All plots share the first eight colours; further ones go around the colour circle. */
const named = 8

/** In degrees: neighbours are far apart, and no colour repeats. */
const goldenAngle = 137.508

export const toneOf = (index: number): string => `s${index}`

/** For classes beyond the common style. @param count number of shards */
export function tonesStyle(count: number): string {
  return Array.from({ length: Math.max(0, count - named) }, (_, i) => {
    const n = named + i
    const colour = `hsl(${Math.round((n * goldenAngle) % 360)} ${55 + 15 * (n % 2)}% ${44 + 12 * (n % 3)}%)`
    return `path.s${n}{stroke:${colour}}rect.s${n}{fill:${colour}}i.s${n}{background:${colour}}`
  }).join('')
}
