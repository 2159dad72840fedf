/** Numbers of axes as texts, by the names of their formats. */
import { readableDuration } from '@shardlab/quantities'
import type { NumberFormat } from '@shardlab/report'
import { timeText, whole } from '../text.js'

const threeDigits = (value: number): string => Number(value.toPrecision(3)).toLocaleString('en')

/** `820 µs`, `2.5 ms`. */
function microsecondsText(us: number): string {
  const [value, unit] = us < 1000 ? [us, 'µs'] : us < 1e6 ? [us / 1000, 'ms'] : [us / 1e6, 's']
  return `${Number(value.toPrecision(3))} ${unit}`
}

const texts: Readonly<Record<NumberFormat, (value: number) => string>> = {
  number: threeDigits,
  integer: whole,
  ratio: (value) => value.toFixed(2),
  times: (value) => `${Number(value.toFixed(2))} ×`,
  microseconds: microsecondsText,
  milliseconds: readableDuration,
  clock: (ms) => timeText(ms).slice(0, 8),
  nines: (x) => (x === 1 ? 'min' : `${Number(((1 - 1 / x) * 100).toFixed(2))}%`),
}

export const numberText = (value: number, format: NumberFormat): string => texts[format](value)
