/** From a fault as a caller writes it to one that is known to make sense. */
import { parseFaultText } from './grammar.js'
import type { FaultInput, FaultSpec } from './schema.js'

type Schema = typeof import('./schema.js')

let schema: Schema | null = null

/** Who breaks nothing starts without it. In a simulation it is there from the beginning: loading takes no virtual time. */
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
