import { parseFaultText } from './grammar.js'
import type { FaultInput, FaultSpec } from './fault-data.js'

type Schema = typeof import('./schema.js')

let schema: Schema | null = null

/**
 * A cluster without faults does not need zod. Simulated clusters load it when they start, because
 * loading takes no virtual time.
 */
export async function loadFaultSchema(): Promise<Schema> {
  schema ??= await import('./schema.js')
  return schema
}

/** @throws OptionError */
export async function parseFault(fault: FaultInput | string): Promise<FaultSpec> {
  const data = typeof fault === 'string' ? parseFaultText(fault) : fault
  const { parseFaultData } = schema ?? (await loadFaultSchema())
  return parseFaultData(data)
}
