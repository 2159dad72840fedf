import type { FaultVerbName } from './fault-data.js'
import { verbTable } from './verb-table.js'

export const faultVerbs: readonly FaultVerbName[] = verbTable.map(({ verb }) => verb)
