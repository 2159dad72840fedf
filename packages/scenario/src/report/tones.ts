/**
 * A colour for each shard: CSS classes. The first eight are those of all plots, further ones go
 * round the colour circle.
 */
const named = 8

/** Degrees: neighbours lie far apart, and none comes again. */
const goldenAngle = 137.508

export const toneOf = (index: number): string => `s${index}`

/**
 * Rules for the classes that the common style does not have. @param count how many shards there are
 */
export function tonesStyle(count: number): string {
  return Array.from({ length: Math.max(0, count - named) }, (_, i) => {
    const n = named + i
    const colour = `hsl(${Math.round((n * goldenAngle) % 360)} ${55 + 15 * (n % 2)}% ${44 + 12 * (n % 3)}%)`
    return `path.s${n}{stroke:${colour}}rect.s${n}{fill:${colour}}i.s${n}{background:${colour}}`
  }).join('')
}
