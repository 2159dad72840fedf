import type { ParameterRow } from '@shardlab/member'

const runtime = { settableAtRuntime: true, settableAtStartup: true } as const

export const mongosParameters = [
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
