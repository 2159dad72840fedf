/** Values as texts of the page. */
import type { LiveState } from '../stream/live-state.js'

export const unreadCatalog = 'The catalog has not been read yet.'

/** Why no collection is shown. */
export function noCollection({ cluster, catalog }: LiveState): string {
  if (cluster?.topology !== 'sharded') return 'This topology has no sharded collections.'
  return catalog.readAtMs === 0 ? unreadCatalog : 'No collection is sharded.'
}

export const whole = (value: number): string => Math.round(value).toLocaleString('en')

export const percent = (share: number): string => `${(100 * share).toFixed(share < 0.095 ? 1 : 0)} %`

/** Of few operations also the tenths. */
export const rateText = (value: number): string => (value < 10 ? value.toFixed(1) : whole(value))

export const timeText = (ms: number): string => new Date(ms).toISOString().slice(11, 23)

export const counted = (count: number, noun: string): string => `${whole(count)} ${noun}${count === 1 ? '' : 's'}`

/** A shape without the quotes of its names. */
export const shapeText = (shape: string): string => shape.replace(/"([$A-Za-z_][\w.]*)":/g, '$1: ')

/** A bound without the braces of its document: `customer: 5`. */
export function boundText(bound: string): string {
  return bound
    .replace(/\{"\$minKey":1\}/g, 'MinKey')
    .replace(/\{"\$maxKey":1\}/g, 'MaxKey')
    .replace(/^\{(.*)\}$/s, '$1')
    .replace(/"([A-Za-z_][\w.]*)":/g, '$1: ')
    .replace(/,(?=[A-Za-z_][\w.]*: )/g, ', ')
}
