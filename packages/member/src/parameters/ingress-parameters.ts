/**
 * Of the rate limiter for new connections, which cannot be enabled. Manual: reference/parameters.
 * Server: jstests/noPassthrough/network/session_establishment_params.js, for the initial values.
 */
import type { ParameterRow } from './parameter.js'

const traits = { settableAtRuntime: true, settableAtStartup: true, behaviour: 'connectionRateLimiter' } as const
const name = <Rest extends string>(rest: Rest) => `ingressConnectionEstablishment${rest}` as const

export const ingressParameters = [
  { name: name('BurstCapacitySecs'), type: 'double', initial: Number.MAX_VALUE, above: 0, ...traits },
  { name: name('MaxQueueDepth'), type: 'int', initial: 0, min: 0, ...traits },
  {
    name: name('RateLimiterEnabled'),
    type: 'bool',
    initial: false,
    ...traits,
    refusal: {
      accepts: false,
      code: 'CommandNotSupported',
      message: 'the rate limiter for new connections is not supported',
    },
  },
  { name: name('RatePerSec'), type: 'int', initial: 0x7fff_ffff, min: 1, ...traits },
] as const satisfies readonly ParameterRow[]
