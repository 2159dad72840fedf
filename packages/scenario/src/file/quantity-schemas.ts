import { QuantityError } from '@shardlab/quantities'
import { z } from 'zod'
import { parseBandwidth, parseBytes, parseGrowth, parseNumber, parseRate, parseTime } from './quantities.js'

function quantityOf(read: (value: string | number) => number) {
  return z.union([z.number(), z.string()], 'must be a number or a text').transform((value, context) => {
    try {
      return read(value)
    } catch (error) {
      if (!(error instanceof QuantityError)) throw error
      context.addIssue({ code: 'custom', message: error.message })
      return z.NEVER
    }
  })
}

export const time = quantityOf(parseTime)
export const bytes = quantityOf(parseBytes)
export const rate = quantityOf(parseRate)
/** Bytes per second. */
export const growth = quantityOf(parseGrowth)
export const bandwidth = quantityOf(parseBandwidth)
export const number = quantityOf(parseNumber)

export const whole = (from: number, to: number) =>
  number.refine((n) => Number.isInteger(n) && n >= from && n <= to, `must be a whole number from ${from} to ${to}`)

export const share = z
  .number('must be a share from 0 to 1')
  .min(0, 'must be a share from 0 to 1')
  .max(1, 'must be a share from 0 to 1')
