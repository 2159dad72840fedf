/** Limits of a single evaluation, which may compute much from a small document. */
import { CommandError } from '@shardlab/bson'
import type { EvaluationContext } from '../context.js'

/**
 * For one intermediate value. Server: internalQueryMaxMapFilterReduceBytes,
 * internalQueryMaxRangeBytes.
 */
export const valueBytesMax = 100 * 1024 * 1024

/** A check reads the clock. */
const stepsBetweenChecks = 128

/** Call the result for each step of a loop. Server: getExpressionInterruptChecker. */
export function interruptChecker({ checkForInterrupt }: EvaluationContext): () => void {
  if (checkForInterrupt === undefined) return () => {}
  let steps = 0
  return () => {
    if (++steps < stepsBetweenChecks) return
    steps = 0
    checkForInterrupt()
  }
}

/** @throws CommandError 146 ExceededMemoryLimit */
export function checkValueBytes(name: string, bytes: number): void {
  if (bytes > valueBytesMax)
    throw new CommandError('ExceededMemoryLimit', `${name} would use too much memory and cannot spill`)
}
