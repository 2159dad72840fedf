/** Goals of figures. A row is `{ name, value, ...atMost(150, ' ms', measured) }`. */
import type { BenchRow } from './bench.js'

export type Goal = Required<Pick<BenchRow, 'goal' | 'isMissed'>>

/** @param unit follows the number: ` ms`, ` × stub` */
export const atMost = (limit: number, unit: string, measured: number): Goal =>
  goal(`at most ${written(limit)}${unit}`, measured <= limit)

export const atLeast = (limit: number, unit: string, measured: number): Goal =>
  goal(`at least ${written(limit)}${unit}`, measured >= limit)

export const goal = (text: string, isMet: boolean): Goal => ({ goal: text, isMissed: !isMet })

/** Of figures that one row has: each has to meet its own. */
export const allOf = (goals: readonly Goal[]): Goal | Record<string, never> =>
  goals.length === 0
    ? {}
    : { goal: goals.map(({ goal }) => goal).join(', '), isMissed: goals.some(({ isMissed }) => isMissed) }

/** For people: `0.50, missed`. */
export const valueText = ({ value, isMissed = false }: BenchRow): string => (isMissed ? `${value}, missed` : value)

const written = (limit: number): string => limit.toLocaleString('en')
