import type { VariantResult } from '../types.js'
import { rounded } from './imbalance.js'

export const shareOf = (part: number, all: number): number => (all === 0 ? 0 : rounded(part / all))

/** Of the operations on all shards, those that have left included. */
export function operationShare(shards: VariantResult['shards'], id: string): number {
  const all = Object.values(shards).reduce((sum, { operations }) => sum + operations, 0)
  return shareOf(shards[id]?.operations ?? 0, all)
}
