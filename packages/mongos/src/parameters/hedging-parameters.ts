import type { ParameterRow, ParameterSet } from '@shardlab/member'
import type { Behaviours } from '@shardlab/sharding'
import type { HedgingParameters } from '../remote/hedging.js'

const runtime = { settableAtRuntime: true, settableAtStartup: true } as const
const mode = { name: 'readHedgingMode', type: 'string', values: ['on', 'off'], ...runtime } as const

export const hedgingParameters = [
  { name: 'maxTimeMSForHedgedReads', type: 'int', initial: 150, min: 0, ...runtime, behaviour: 'hedgedReads' },
  { ...mode, initial: 'on', behaviour: 'hedgedReadsByDefault' },
  { ...mode, initial: 'off', behaviour: 'hedgedReadsOnRequest' },
] as const satisfies readonly ParameterRow[]

export function hedgingOf({
  behaviours,
  parameters,
}: {
  readonly behaviours: Behaviours
  readonly parameters: ParameterSet<(typeof hedgingParameters)[number]['name']>
}): HedgingParameters {
  return behaviours.hedgedReads
    ? {
        isOn: parameters.string('readHedgingMode') === 'on',
        maxTimeMs: parameters.number('maxTimeMSForHedgedReads'),
      }
    : noHedging
}

const noHedging: HedgingParameters = { isOn: false, maxTimeMs: 0 }
