/** Colours of shards and lines. Beyond eight they repeat, so drawings differ in other ways, too. */

/**
 * Okabe and Ito, for readers who see colours differently; those of a dark page are lighter. The
 * style sheet has them, too.
 */
const light = ['#0072b2', '#e69f00', '#009e73', '#cc79a7', '#56b4e9', '#d55e00', '#8a7d00', '#5b6b7b']
const dark = ['#4aa3df', '#f0b63f', '#33c79a', '#e39bc4', '#8fd0f7', '#ff8a4a', '#d8cb2f', '#9aa8b6']

export const tones = light.length

export const isDark = (): boolean => matchMedia('(prefers-color-scheme: dark)').matches

export function colourOf(index: number): string {
  const colours = isDark() ? dark : light
  return colours[index % colours.length]!
}

/** From this number on, ten shards whose names follow each other share a hue. */
const groupedFrom = 2 * tones + 1
const group = 10
/** In degrees: neighbouring hues are far apart. */
const goldenAngle = 137.508

const hueOf = (n: number): number => Math.round((n * goldenAngle) % 360)

/** A colour of its own for each of many shards, where colours alone tell them apart. */
export function manyColours(count: number): string[] {
  const lighter = isDark() ? 12 : 0
  return Array.from({ length: count }, (_, n) => {
    if (count >= groupedFrom)
      return `hsl(${hueOf(Math.floor(n / group))} ${60 - 3 * (n % 2)}% ${26 + lighter + 5 * (n % group)}%)`
    return n < tones ? colourOf(n) : `hsl(${hueOf(n)} ${55 + 15 * (n % 2)}% ${44 + lighter + 12 * (n % 3)}%)`
  })
}

/** Of neighbouring lines, so that both are visible where one covers another. */
const dashes: readonly (readonly number[])[] = [[], [8, 4], [2, 3], [10, 3, 2, 3]]

export const dashOf = (index: number): readonly number[] => dashes[index % dashes.length]!

export const inkColour = (): string => (isDark() ? '#e6ebf0' : '#1c2733')
export const softColour = (): string => (isDark() ? '#a6b3c0' : '#52606e')
export const ruleColour = (): string => (isDark() ? '#333d48' : '#dde3e9')
export const badColour = (): string => (isDark() ? '#ff6b81' : '#c0233c')
