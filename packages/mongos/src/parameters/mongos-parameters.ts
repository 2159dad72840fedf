import type { ParameterRow } from '@shardlab/member'
import { hedgingParameters } from './hedging-parameters.js'

const runtime = { settableAtRuntime: true, settableAtStartup: true } as const

export const mongosParameters = [
  ...hedgingParameters,
  {
    name: 'internalQueryProhibitMergingOnMongoS',
    type: 'bool',
    initial: false,
    ...runtime,
    behaviour: 'routersMerge',
  },
  { name: 'requireApiVersion', type: 'bool', initial: false, ...runtime, behaviour: 'stableApi' },
] as const satisfies readonly ParameterRow[]

export type MongosParameterName = (typeof mongosParameters)[number]['name']
