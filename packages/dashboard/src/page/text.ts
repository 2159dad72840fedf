/** Values as texts of the page. */

export const whole = (value: number): string => Math.round(value).toLocaleString('en')

export const timeText = (ms: number): string => new Date(ms).toISOString().slice(11, 23)

export const counted = (count: number, noun: string): string => `${whole(count)} ${noun}${count === 1 ? '' : 's'}`

/** A bound without the braces of its document: `customer: 5`. */
export function boundText(bound: string): string {
  return bound
    .replace(/\{"\$minKey":1\}/g, 'MinKey')
    .replace(/\{"\$maxKey":1\}/g, 'MaxKey')
    .replace(/^\{(.*)\}$/s, '$1')
    .replace(/"([A-Za-z_][\w.]*)":/g, '$1: ')
}
