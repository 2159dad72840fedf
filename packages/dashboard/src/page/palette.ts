/** Colours of shards. Colours repeat: lanes and labels tell shards apart, too. */

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

export const inkColour = (): string => (isDark() ? '#e6ebf0' : '#1c2733')
export const ruleColour = (): string => (isDark() ? '#333d48' : '#dde3e9')
export const badColour = (): string => (isDark() ? '#ff6b81' : '#c0233c')
