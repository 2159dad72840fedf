/** Faults as callers write them, text or data, checked. */
import { parseFaultText } from './grammar.js'
import type { FaultInput, FaultSpec } from './verb-table.js'

type Schema = typeof import('./schema.js')

let schema: Schema | null = null

/**
 * Loads zod, which a cluster without faults does not need. Simulated clusters load it when they
 * start: loading takes no virtual time.
 */
export async function loadFaultSchema(): Promise<Schema> {
  schema ??= await import('./schema.js')
  return schema
}

/**
 * Reads a fault, from text (`crash shard02 for 5s`) or from data.
 * @throws OptionError one sentence
 */
export async function parseFault(fault: FaultInput | string): Promise<FaultSpec> {
  const data = typeof fault === 'string' ? parseFaultText(fault) : fault
  const { parseFaultData } = schema ?? (await loadFaultSchema())
  return parseFaultData(data)
}
